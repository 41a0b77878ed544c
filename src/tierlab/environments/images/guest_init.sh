#!/bin/sh
# First program of a guest: from the kernel's first file system to a root that takes commands.
# The kernel hands its unknown parameters on as environment variables; see guest_words.py.
set -e

mount -t devtmpfs dev /dev
mount -t proc proc /proc
mount -t sysfs sys /sys
while read -r module; do insmod "/modules/$module"; done </modules/order

# The image is the same for all guests: what one writes stays in its own memory.
# Devices may come a moment after their drivers.
wait_for() {
    while [ ! -e "$1" ]; do sleep 0.05; done
}

mkdir /image /written
wait_for "/dev/${guest_disks}a"
mount -t erofs -o ro "/dev/${guest_disks}a" /image
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

hostname "$guest_name"
echo "127.0.0.1 localhost" >/root/etc/hosts
ip link set lo up
if [ -n "$guest_address" ]; then
    wait_for /root/sys/class/net/eth0
    ip address add "$guest_address" dev eth0
    ip link set eth0 up
    ip route add default via "$guest_gateway"
fi

mkdir -p "/root$guest_folder" /root/disk
if [ -n "$guest_disk" ]; then
    wait_for "/root/dev/${guest_disks}b"
    # Else the kernel writes to it by itself for a while, which would be measured too.
    mount -t ext4 -o noinit_itable "/root/dev/${guest_disks}b" /root/disk
fi
if [ "$guest_disk" = . ]; then
    # All of the folder: nothing of the host's stays mounted, since that could not move with it.
    mkdir -p /root/disk/folder/.stage
    chown "$guest_user" /root/disk/folder
    chmod 750 /root/disk/folder
    mount --bind /root/disk/folder "/root$guest_folder"
else
    mount -t 9p -o "trans=$guest_bus,version=9p2000.L,msize=524288,cache=mmap" folder \
        "/root$guest_folder"
    for name in $(echo "$guest_disk" | tr , ' '); do
        mkdir "/root/disk/$name"
        chown "$guest_user" "/root/disk/$name"
        mount --bind "/root/disk/$name" "/root$guest_folder/$name"
    done
fi

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
