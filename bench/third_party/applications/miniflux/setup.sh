. "$TOOLS/databases.sh"
GOBIN="$PWD/image" CGO_ENABLED=0 go install -modcacherw miniflux.app/v2@v2.3.5 >go.log 2>&1
postgresql_data db
postgresql_start "$PWD/db" 15436
export DATABASE_URL="postgres://shop:shop@127.0.0.1:15436/shop?sslmode=disable" LISTEN_ADDR=127.0.0.1:18886
export CREATE_ADMIN=1 ADMIN_USERNAME=ann ADMIN_PASSWORD=lamp-and-chair RUN_MIGRATIONS=1 DISABLE_SCHEDULER_SERVICE=1
image/miniflux.app >miniflux.log 2>&1 &
miniflux=$!
for _ in $(seq 300); do
    curl -sfo /dev/null http://127.0.0.1:18886/healthcheck && break
    sleep 0.2
done
psql -qh "$PWD/db" -p 15436 -U shop -d shop -v ON_ERROR_STOP=1 -f "$SOURCE/entries.sql"
made=0
/usr/bin/python3 "$TOOLS/visit.py" http://127.0.0.1:18886 visit.har <"$SOURCE/visit.txt" || made=1
kill $miniflux
wait $miniflux || true
psql -qh "$PWD/db" -p 15436 -U shop -d shop -c "TRUNCATE sessions, user_sessions" 2>/dev/null || true
pg_dump -h "$PWD/db" -p 15436 -U shop --inserts --no-owner --no-privileges shop >shop.sql
postgresql_stop "$PWD/db"
test $made = 0
podman build --quiet --network=none --tag localhost/third-party-miniflux --file "$SOURCE/Containerfile" image
