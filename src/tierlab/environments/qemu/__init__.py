"""Virtual machines by QEMU and KVM, through libvirt."""
