//! The kernel's part compiles for each architecture that the agent may be built for.

use std::process::Command;

fn compiles_for(define: &str) {
    // The kernel's own headers of this machine are near enough: nothing of theirs differs here.
    let headers = format!("-I/usr/include/{}-linux-gnu", std::env::consts::ARCH);
    let done = Command::new(env!("BPF_COMPILER"))
        .args(["-O2", "-Wall", "-Werror", "-target", "bpf", "-fsyntax-only", "bpf/trace.bpf.c"])
        .args([format!("-D{define}"), headers])
        .output()
        .expect("the compiler that built the agent");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

#[test]
fn the_kernels_part_compiles_for_x86_64() {
    compiles_for("__TARGET_ARCH_x86");
}

/// Macros for its registers had replaced a field of the same name.
#[test]
fn the_kernels_part_compiles_for_aarch64() {
    compiles_for("__TARGET_ARCH_arm64");
}
