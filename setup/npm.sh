#!/bin/sh
# Installs the libraries of an application of Node.js's into its folder, as its lock file says.
set -eu

folder=$1
if ! command -v npm >/dev/null; then
    list=$(mktemp)
    echo npm >"$list"
    "$(dirname "$0")/apt.sh" "$list"
    rm -f "$list"
fi
echo "setup: installing the libraries of $folder"
log=$(mktemp)
if ! npm ci --prefix "$folder" --omit=dev --no-audit --no-fund >"$log" 2>&1; then
    tail -n 20 "$log" >&2
    echo "setup: npm could not install the libraries of $folder; its last lines are above" >&2
    rm -f "$log"
    exit 1
fi
rm -f "$log"
