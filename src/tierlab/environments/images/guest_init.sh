#!/bin/sh
# First program of a guest: from the kernel's first file system to a root that takes commands.
# It does what is the same for all guests, so that one may be restored as another: what this one is,
# and has of its own, configure.sh is told once the agent runs.
set -e

mount -t devtmpfs dev /dev
mount -t proc proc /proc
mount -t sysfs sys /sys
while read -r module; do insmod "/modules/$module"; done </modules/order

# Devices may come a moment after their drivers. Xen's are called differently.
until [ -n "$disk" ]; do
    for each in /dev/vda /dev/xvda; do
        if [ -e "$each" ]; then disk=$each; fi
    done
    [ -n "$disk" ] || sleep 0.05
done

# The image is the same for all guests: what one writes stays in its own memory.
mkdir /image /written
mount -t erofs -o ro "$disk" /image
mount -t tmpfs written /written
mkdir /written/files /written/work
mount -t overlay -o lowerdir=/image,upperdir=/written/files,workdir=/written/work root /root

mount --move /dev /root/dev
mount --move /proc /root/proc
mount --move /sys /root/sys
mkdir /root/dev/pts /root/dev/shm
mount -t devpts devpts /root/dev/pts
mount -t tmpfs -o mode=1777 shm /root/dev/shm
mount -t tmpfs -o mode=755 run /root/run
chmod 1777 /root/tmp /root/var/tmp

# Programs are counted and ended by their control groups.
groups=/root/sys/fs/cgroup
mount -t cgroup2 cgroup "$groups"
mkdir "$groups/tierlab"
for group in "$groups" "$groups/tierlab"; do
    for controller in cpuset cpu io memory pids; do
        echo "+$controller" >"$group/cgroup.subtree_control"
    done
done

echo "127.0.0.1 localhost" >/root/etc/hosts
ip link set lo up

ulimit -n 1048576
ulimit -u unlimited
for port in /root/sys/class/virtio-ports/*; do
    [ -e "$port" ] || continue
    if [ "$(cat "$port/name")" = tierlab.agent ]; then channel=/dev/${port##*/}; fi
done
if [ -n "$channel" ]; then
    exec switch_root /root /usr/bin/catatonit -- \
        /usr/sbin/qemu-ga --method=virtio-serial --path="$channel" --statedir=/run
fi

# A domain of Xen's has no such port: the agent has the console for itself.
echo 1 >/root/proc/sys/kernel/printk
exec switch_root /root /usr/bin/catatonit -- \
    /usr/sbin/qemu-ga --method=isa-serial --path=/dev/hvc0 --statedir=/run \
    --logfile=/run/agent.log >/root/run/agent.out 2>&1
