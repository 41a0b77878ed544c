#!/bin/sh
# First program of the emulated host (emulated_host.py): to a root with this machine's own files.
set -e

mount -t devtmpfs dev /dev
mount -t proc proc /proc
mount -t sysfs sys /sys
while read -r module; do insmod "/modules/$module"; done </modules/order

# What is written stays here, in memory; trials' folders are on a disk, as guests' disks ask for one.
share=trans=virtio,version=9p2000.L,msize=512000
mkdir /machine /written
mount -t 9p -o "ro,cache=loose,$share" machine /machine
mount -t tmpfs written /written
mkdir /written/files /written/work
mount -t overlay -o lowerdir=/machine,upperdir=/written/files,workdir=/written/work root /root
mount -t ext4 -o noinit_itable /dev/vda /root/var/tmp
chmod 1777 /root/var/tmp
mount -t 9p -o "cache=none,$share" results /root/mnt

mount --move /dev /root/dev
mount --move /proc /root/proc
mount --move /sys /root/sys
mkdir -p /root/dev/pts /root/dev/shm
mount -t devpts devpts /root/dev/pts
mount -t tmpfs -o mode=1777 shm /root/dev/shm
mount -t tmpfs -o mode=755 run /root/run
mount -t cgroup2 cgroup /root/sys/fs/cgroup
ip link set lo up
exec switch_root /root /bin/sh /mnt/job
