. "$TOOLS/databases.sh"
cp -rL /usr/share/redmine app 2>/dev/null || test -d app/app
mkdir -p app/instances/default
cd app/instances/default
rm -rf config log tmp files public
mkdir -p config log tmp files public
cd ../../..
cat >app/config/database.yml <<'END'
production:
  adapter: postgresql
  host: 127.0.0.1
  port: <%= ENV.fetch("DATABASE_PORT", "5432") %>
  database: shop
  username: shop
  encoding: utf8
END
cp app/config/database.yml app/instances/default/config/
echo 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef >app/instances/default/config/secret_key.txt
echo 'gem "puma"' >app/Gemfile.local
rm -f app/Gemfile.lock
sed -i "s|/usr/share/redmine/{config|$PWD/app/{config|" app/Gemfile
postgresql_data db
postgresql_start "$PWD/db" 15433
cd app
export DATABASE_PORT=15433 RAILS_ENV=production REDMINE_LANG=en LANG=C.UTF-8
bundle exec rake db:migrate >../migrated.log 2>&1
bundle exec rake redmine:load_default_data >>../migrated.log 2>&1
bundle exec rails runner "$SOURCE/fill.rb"
cd ..
postgresql_stop "$PWD/db"
chmod -R a+rwX app
