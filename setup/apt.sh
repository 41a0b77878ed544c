#!/bin/sh
# Installs the Debian packages listed in the files given, without starting any of their services.
set -eu

missing=$(cat "$@" | while read -r package; do
    dpkg-query -W -f='${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed || echo "$package"
done)
[ -n "$missing" ] || exit 0

if ! command -v apt-get >/dev/null; then
    echo "setup: this is no Debian; install the like of: $(echo $missing)" >&2
    exit 1
fi
if [ "$(id -u)" -ne 0 ]; then
    echo "setup: packages are missing: $(echo $missing). Install them, without starting their services: sudo $0 $*" >&2
    exit 1
fi

# Packages of servers start them after installation unless this file says no (exit 101).
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
    trap 'rm -f "$policy"' EXIT INT TERM
    printf '#!/bin/sh\nexit 101\n' >"$policy"
    chmod 755 "$policy"
fi

export DEBIAN_FRONTEND=noninteractive
echo "setup: installing $(echo $missing)"
apt-get update -qq
log=$(mktemp)
# shellcheck disable=SC2086 # the list is meant to be split
if ! apt-get install -y -qq --no-install-recommends -o Dpkg::Options::=--force-unsafe-io $missing >"$log" 2>&1; then
    tail -n 20 "$log" >&2
    echo "setup: apt-get could not install the packages; its last lines are above" >&2
    rm -f "$log"
    exit 1
fi
rm -f "$log"
