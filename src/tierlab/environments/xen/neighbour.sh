#!/bin/sh
# Only program of a neighbour in Xen: on each virtual CPU a process that never ends.
# It says so on the console. A number there is how many of them compute from then on; others rest.
mount -t devtmpfs dev /dev
vcpu=0
while [ "$vcpu" -lt "$busy_vcpus" ]; do
    /bin/busybox taskset -c "$vcpu" sh -c 'while :; do :; done' &
    processes="$processes $!"
    vcpu=$((vcpu + 1))
done

echo computing >/dev/hvc0
while read -r wanted; do
    left=$wanted
    for process in $processes; do
        if [ "$left" -gt 0 ]; then signal=CONT; else signal=STOP; fi
        /bin/busybox kill -"$signal" "$process"
        left=$((left - 1))
    done
    echo "busy: $wanted" >/dev/hvc0
done </dev/hvc0
