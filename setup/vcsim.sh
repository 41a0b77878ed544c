#!/bin/sh
# Builds vcsim, the simulator of a vCenter, as the file given: the last version that Debian 12's Go
# compiles. Go's module proxy and checksum database say that the sources are the published ones.
set -eu

target=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT INT TERM
export GOBIN="$folder/bin" GOPATH="$folder/path" GOCACHE="$folder/cache" CGO_ENABLED=0
echo "setup: building vcsim"
if ! go install -modcacherw github.com/vmware/govmomi/vcsim@v0.38.0 >"$folder/log" 2>&1; then
    tail -n 20 "$folder/log" >&2
    echo "setup: vcsim could not be built; go's last lines are above" >&2
    exit 1
fi
mkdir -p "$(dirname "$target")"
mv "$folder/bin/vcsim" "$target"
