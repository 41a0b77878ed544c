#!/bin/sh
# PostgreSQL at a UNIX socket, with a log of all that it is asked: sh postgres.sh SOCKET
bin=/usr/lib/postgresql/15/bin
"$bin/initdb" --no-sync -D "$PWD/data" -U shop --auth=trust >/dev/null
exec "$bin/postgres" -D "$PWD/data" -c listen_addresses= -c unix_socket_directories="$(dirname "$1")" \
    -c log_statement=all -c log_line_prefix= 2>"$PWD/postgres.log"
