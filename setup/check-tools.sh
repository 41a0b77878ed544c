#!/bin/sh
# Says in one line what the machine lacks before anything is built.
set -eu

lacking=""
need() { command -v "$1" >/dev/null 2>&1 || lacking="$lacking $2;"; }
need cargo "Rust 1.88 or later (cargo)"
need javac "JDK 17 (openjdk-17-jdk-headless)"
need mvn "Maven (maven)"
need cc "a C compiler (gcc and libc6-dev)"
need python3 "Python 3.11 or later (python3)"
if command -v python3 >/dev/null 2>&1 && ! python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
    lacking="$lacking Python 3.11 or later (python3 is $(python3 -V | cut -d' ' -f2));"
fi
if command -v cargo >/dev/null 2>&1; then
    cargo --version | awk '{split($2, v, "."); exit !(v[1] > 1 || v[2] >= 88)}' ||
        lacking="$lacking Rust 1.88 or later (cargo is $(cargo --version | cut -d' ' -f2));"
fi
if [ -n "$lacking" ]; then
    echo "setup: this machine lacks:${lacking%;}. Install that and repeat." >&2
    exit 1
fi
