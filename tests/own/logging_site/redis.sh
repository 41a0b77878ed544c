#!/bin/sh
# Redis at a UNIX socket, with a log of all that it wrote: sh redis.sh SOCKET
exec redis-server --port 0 --unixsocket "$1" --dir "$PWD" --appendonly yes --appendfsync no --save ""
