#!/bin/sh
# Installs the Debian packages of applications that others wrote. Those that would make a database of
# their own as they are installed are told not to.
set -eu

here=$(dirname "$0")
if [ "$(id -u)" -eq 0 ] && command -v debconf-set-selections >/dev/null; then
    debconf-set-selections <<'END'
redmine redmine/instances/default/dbconfig-install boolean false
request-tracker5 request-tracker5/dbconfig-install boolean false
END
fi
list=$(mktemp)
trap 'rm -f "$list"' EXIT INT TERM
cp "$here/packages-third-party.txt" "$list"
command -v npm >/dev/null || echo npm >>"$list"
"$here/apt.sh" "$list"
