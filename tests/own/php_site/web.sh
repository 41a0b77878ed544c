#!/bin/sh
# nginx, which has PHP at a UNIX socket: sh web.sh ADDRESS PORT SOCKET
mkdir -p tmp
cat >nginx.conf <<END
daemon off;
pid nginx.pid;
error_log stderr;
worker_processes 1;
events { worker_connections 200; }
http {
  access_log off;
  client_body_temp_path tmp; proxy_temp_path tmp; fastcgi_temp_path tmp;
  uwsgi_temp_path tmp; scgi_temp_path tmp;
  server {
    listen $1:$2;
    location / {
      fastcgi_pass unix:$3;
      fastcgi_param REQUEST_METHOD \$request_method;
      fastcgi_param REQUEST_URI \$request_uri;
      fastcgi_param QUERY_STRING \$query_string;
      fastcgi_param SCRIPT_FILENAME $PWD/index.php;
      fastcgi_param GATEWAY_INTERFACE CGI/1.1;
      fastcgi_param SERVER_PROTOCOL \$server_protocol;
    }
  }
}
END
exec nginx -p "$PWD" -c "$PWD/nginx.conf"
