#!/bin/sh
# Joins a domain's disk or wire to what is behind it; the toolstack calls it in domain 0.
# Xen's own scripts also guard against what cannot happen here, and take many seconds where the
# processor is emulated. Source: docs/misc/block-scripts.txt and vif-route of Xen.
set -e
say() {
    xenstore-write "$XENBUS_PATH/$1" "$2"
}

case $1 in
add)
    device=$(xenstore-read "$XENBUS_PATH/params")
    say physical-device "$(stat -L -c %t:%T "$device")"
    say hotplug-status connected
    ;;
online)
    ip link set "$vif" master "$(xenstore-read "$XENBUS_PATH/bridge")" up
    say hotplug-status connected
    ;;
esac
