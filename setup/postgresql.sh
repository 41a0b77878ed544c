#!/bin/sh
# Fetches the programs of a PostgreSQL that Debian 12 has not, as an archive: builds that others keep
# for their tests at Maven's central repository, whose checksums Maven compares.
set -eu

version=$1 target=$2
case $(uname -m) in
    aarch64) machine=arm64v8 ;;
    *) machine=amd64 ;;
esac
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT INT TERM
echo "setup: fetching PostgreSQL $version"
if ! mvn -q -B org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy \
    -Dartifact="io.zonky.test.postgres:embedded-postgres-binaries-linux-$machine:$version" \
    -DoutputDirectory="$folder" >"$folder/log" 2>&1; then
    tail -n 20 "$folder/log" >&2
    echo "setup: PostgreSQL $version could not be fetched; Maven's last lines are above" >&2
    exit 1
fi
python3 -m zipfile -e "$folder"/*.jar "$folder/inside"
mkdir -p "$(dirname "$target")"
mv "$folder"/inside/*.txz "$target"
