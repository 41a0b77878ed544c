mkdir -p base/conf base/logs base/temp base/work base/webapps web
cp -rL /usr/share/tomcat10-examples/examples base/webapps/
cp "$SOURCE/server.xml" base/conf/
cp /etc/tomcat10/web.xml base/conf/
cp "$SOURCE/nginx.conf" web/
chmod -R a+rwX base web
