#!/bin/sh
# MariaDB at a UNIX socket, with a log of all that it is asked: sh maria.sh SOCKET
mariadb-install-db --no-defaults --datadir="$PWD/data" --skip-test-db >/dev/null
exec mariadbd --no-defaults --datadir="$PWD/data" --socket="$1" --skip-networking \
    --skip-grant-tables --skip-log-bin --general-log --general-log-file="$PWD/general.log"
