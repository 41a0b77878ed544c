# Ghost is an application and no library: its package is unpacked and its libraries are put into it. Those for its own
# tests are left out; one of them is in no registry.
. "$TOOLS/databases.sh"
npm pack --silent ghost@5.130.6 >/dev/null
tar xzf ghost-*.tgz
mv package ghost
rm ghost-*.tgz
node -e 'const fs = require("fs"), p = require("./ghost/package.json"); delete p.devDependencies; delete p.resolutions;
    fs.writeFileSync("ghost/package.json", JSON.stringify(p))'
(cd ghost && npm install --omit=dev --no-audit --no-fund --ignore-scripts --legacy-peer-deps) >npm.log 2>&1
mkdir -p site
cp -r ghost/content ghost/package.json site/
sed 's|3306|13310|' "$SOURCE/config.production.json" >site/config.production.json
mariadb_data db
mariadb_start "$PWD/db" 13310
# It makes its tables as it starts for the first time.
(cd site && NODE_ENV=production exec node ../ghost/index.js) >started.log 2>&1 &
for _ in $(seq 240); do
    grep -q "Ghost booted" started.log && break
    sleep 0.5
done
kill $!
wait $! || true
grep -q "Ghost booted" started.log
mariadb --no-defaults --socket=db/made.sock shop <"$SOURCE/posts.sql"
mariadb_stop "$PWD/db"
cp "$SOURCE/config.production.json" site/
chmod -R a+rwX site
chmod -R a+rX ghost
