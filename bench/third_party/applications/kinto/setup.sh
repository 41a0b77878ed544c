. "$TOOLS/databases.sh"
/usr/bin/python3 -m venv venv
venv/bin/pip -q --disable-pip-version-check install -r "$SOURCE/requirements.txt"
mkdir web
cp "$SOURCE/kinto.ini" web/
postgresql_data db
postgresql_start "$PWD/db" 15435
redis-server --port 16379 --bind 127.0.0.1 --save "" --daemonize no >redis.log 2>&1 &
redis=$!
sed 's|:5432/|:15435/|; s|:6379/|:16379/|' web/kinto.ini >made.ini
venv/bin/kinto migrate --ini made.ini >kinto.log 2>&1
venv/bin/kinto start --ini made.ini --port 18885 >>kinto.log 2>&1 &
kinto=$!
for _ in $(seq 300); do
    curl -so /dev/null http://127.0.0.1:18885/v1/ && break
    sleep 0.2
done
curl -sf -o /dev/null -X PUT http://127.0.0.1:18885/v1/accounts/ann -H 'Content-Type: application/json' \
    -d '{"data": {"password": "lamp-and-chair"}}'
made=0
/usr/bin/python3 "$TOOLS/visit.py" http://127.0.0.1:18885 visit.har <"$SOURCE/visit.txt" || made=1
kill $kinto $redis
wait $kinto $redis || true
postgresql_stop "$PWD/db"
test $made = 0
