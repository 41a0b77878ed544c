. "$TOOLS/databases.sh"
mvn -q -B org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy \
    -Dartifact=org.keycloak:keycloak-quarkus-dist:26.5.6:tar.gz -DoutputDirectory="$PWD" >maven.log 2>&1
tar xzf keycloak-quarkus-dist-*.tar.gz
rm keycloak-quarkus-dist-*.tar.gz
mv keycloak-26.5.6 keycloak
cp "$SOURCE/keycloak.conf" keycloak/conf/
postgresql_data db
keycloak/bin/kc.sh build >built.log 2>&1
postgresql_start "$PWD/db" 15434
# It makes its tables as it starts for the first time.
sed 's|:5432/|:15434/|; s|^http-port=.*|http-port=18084|' "$SOURCE/keycloak.conf" >first.conf
KC_BOOTSTRAP_ADMIN_USERNAME=admin KC_BOOTSTRAP_ADMIN_PASSWORD=admin JAVA_OPTS_APPEND="-Xmx512m" \
    keycloak/bin/kc.sh --config-file="$PWD/first.conf" start --optimized >started.log 2>&1 &
keycloak=$!
for _ in $(seq 480); do
    grep -q "Listening on" started.log && break
    sleep 0.5
done
made=0
/usr/bin/python3 "$TOOLS/visit.py" http://127.0.0.1:18084 visit.har <"$SOURCE/visit.txt" || made=1
kill $keycloak
wait $keycloak || true
grep -q "Listening on" started.log
postgresql_stop "$PWD/db"
chmod -R a+rwX keycloak
test $made = 0
