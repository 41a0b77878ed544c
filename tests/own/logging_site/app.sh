#!/bin/sh
# PHP-FPM at a UNIX socket, with a log of its requests: sh app.sh SOCKET
cat >fpm.conf <<END
[global]
error_log = $PWD/fpm.log
daemonize = no
[www]
listen = $1
pm = static
pm.max_children = 4
clear_env = no
chdir = $PWD
access.log = $PWD/access.log
access.format = "%m %{REQUEST_URI}e"
END
exec php-fpm8.2 --nodaemonize -n -d extension=mysqlnd -d extension=mysqli -d extension=pgsql -y "$PWD/fpm.conf"
