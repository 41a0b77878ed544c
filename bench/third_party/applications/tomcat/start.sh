rm -f web/access.log base/logs/access.log
CATALINA_HOME=/usr/share/tomcat10 CATALINA_BASE="$PWD/base" JAVA_OPTS=-Xmx256m /usr/share/tomcat10/bin/catalina.sh run >base/logs/console.log 2>&1 &
nginx -p "$PWD/web" -c nginx.conf &
for _ in $(seq 300); do
    curl -sfo /dev/null http://127.0.0.1:18086/examples/ && exit
    sleep 0.2
done
exit 1
