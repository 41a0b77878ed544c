#!/bin/sh
# PHP-FPM at a UNIX socket: sh app.sh SOCKET
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
END
exec php-fpm8.2 --nodaemonize -n -d extension=mysqlnd -d extension=mysqli -y "$PWD/fpm.conf"
