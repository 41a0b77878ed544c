//! Compiles the kernel's part of the tracer, so that nothing is needed where it runs.

use std::env;
use std::path::PathBuf;
use std::process::Command;

/// Newer ones first, as far as Debian and Ubuntu name them.
const COMPILERS: [&str; 8] =
    ["clang", "clang-21", "clang-20", "clang-19", "clang-18", "clang-16", "clang-15", "clang-14"];

fn main() {
    println!("cargo::rerun-if-changed=bpf");
    println!("cargo::rerun-if-env-changed=BPF_CLANG");
    let (define, headers) = match env::var("CARGO_CFG_TARGET_ARCH").as_deref() {
        Ok("x86_64") => ("__TARGET_ARCH_x86", "x86_64-linux-gnu"),
        Ok("aarch64") => ("__TARGET_ARCH_arm64", "aarch64-linux-gnu"),
        other => panic!("the tracer knows no system calls of the architecture {other:?}"),
    };
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("set by cargo")).join("trace.bpf.o");
    let chosen = env::var("BPF_CLANG").ok();
    let found = |name: &&str| Command::new(name).arg("--version").output().is_ok();
    let compiler = chosen.as_deref().or_else(|| COMPILERS.iter().copied().find(found));
    let compiler = compiler.expect("clang is missing: apt-get install clang-14 libbpf-dev");
    println!("cargo::rustc-env=BPF_COMPILER={compiler}");
    let status = Command::new(compiler)
        .args(["-O2", "-g", "-Wall", "-Werror", "-target", "bpf", "-c", "bpf/trace.bpf.c"])
        .arg(format!("-D{define}"))
        .arg(format!("-I/usr/include/{headers}"))
        .arg("-o")
        .arg(&out)
        .status()
        .expect("clang was found and cannot be run");
    assert!(
        status.success(),
        "{compiler} could not compile bpf/trace.bpf.c: is libbpf-dev installed?"
    );
}
