#!/bin/sh
# First program of a guest: from the kernel's first file system to a root that takes commands.
# The kernel hands its unknown parameters on as environment variables; see qemu_xml.py.
set -e

mount -t devtmpfs dev /dev
mount -t proc proc /proc
mount -t sysfs sys /sys
while read -r module; do insmod "/modules/$module"; done </modules/order

# The image is the same for all guests: what one writes stays in its own memory.
mkdir /image /written
mount -t erofs -o ro /dev/vda /image
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
    ip address add "$guest_address" dev eth0
    ip link set eth0 up
    ip route add default via "$guest_gateway"
fi

mkdir -p "/root$guest_folder" /root/disk
if [ -b /root/dev/vdb ]; then mount -t ext4 /root/dev/vdb /root/disk; fi
if [ "$guest_disk" = . ]; then
    # All of the folder: nothing of the host's stays mounted, since that could not move with it.
    mkdir -p /root/disk/folder/.stage
    chown "$guest_user" /root/disk/folder
    chmod 750 /root/disk/folder
    mount --bind /root/disk/folder "/root$guest_folder"
else
    mount -t 9p -o trans=virtio,version=9p2000.L,msize=524288,cache=mmap folder \
        "/root$guest_folder"
    for name in $(echo "$guest_disk" | tr , ' '); do
        mkdir "/root/disk/$name"
        chown "$guest_user" "/root/disk/$name"
        mount --bind "/root/disk/$name" "/root$guest_folder/$name"
    done
fi

for port in /root/sys/class/virtio-ports/*; do
    if [ "$(cat "$port/name")" = tierlab.agent ]; then channel=/dev/${port##*/}; fi
done
ulimit -n 1048576
ulimit -u unlimited
exec switch_root /root /usr/bin/catatonit -- \
    /usr/sbin/qemu-ga --method=virtio-serial --path="$channel" --statedir=/run
