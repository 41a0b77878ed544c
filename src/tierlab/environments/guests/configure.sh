# Makes a guest that has booted, or was restored from a snapshot, the one that is asked for. Its agent
# runs this as root; what the guest is to be comes by environment variables: see configuration.py.
set -e
date --set="@$guest_time" >/dev/null

# All that are restored from one snapshot would draw the same numbers.
perl -e '
    open(my $pool, ">", "/dev/urandom") or die "$!\n";
    syswrite($pool, pack("H*", $ENV{guest_seed})) or die "$!\n";
    ioctl($pool, 0x5207, 0) or die "$!\n";  # RNDRESEEDCRNG of random(4)
'

for each in $guest_sysctls; do
    echo "${each#*=}" >"/proc/sys/$(echo "${each%%=*}" | tr . /)"
done

# Devices may come a moment after their drivers.
wait_for() {
    while [ ! -e "$1" ]; do sleep 0.05; done
}

hostname "$guest_name"
if [ -n "$guest_address" ]; then
    wait_for /sys/class/net/eth0
    ip link set eth0 address "$guest_mac"
    ip address add "$guest_address" dev eth0
    ip link set eth0 up
    ip route add default via "$guest_gateway"
fi

mkdir -p "$guest_folder" /disk
if [ -n "$guest_disk_folders" ]; then
    wait_for "$guest_disk"
    # Else the kernel writes to it by itself for a while, which would be measured too.
    mount -t ext4 -o noinit_itable "$guest_disk" /disk
fi
if [ "$guest_disk_folders" = . ]; then
    # All of the folder: nothing of the host's stays mounted, since that could not move with it.
    mkdir -p /disk/folder/.stage
    chown "$guest_user" /disk/folder
    chmod 750 /disk/folder
    mount --bind /disk/folder "$guest_folder"
else
    mount -t 9p -o "trans=$guest_bus,version=9p2000.L,msize=524288,cache=mmap" folder "$guest_folder"
    for name in $(echo "$guest_disk_folders" | tr , ' '); do
        mkdir "/disk/$name"
        chown "$guest_user" "/disk/$name"
        mount --bind "/disk/$name" "$guest_folder/$name"
    done
fi
