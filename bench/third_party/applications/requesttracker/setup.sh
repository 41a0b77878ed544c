. "$TOOLS/databases.sh"
mariadb_data db
mariadb_start "$PWD/db" 13309
mkdir -p web/mason web/sessions web/var config
sed "s|@place@|$PWD|" "$SOURCE/RT_SiteConfig.pm" >config/RT_SiteConfig.pm
export RT_SITE_CONFIG="$PWD/config/RT_SiteConfig.pm" RT_SITE_CONFIG_DIR="$PWD/none" DATABASE_PORT=13309
mkdir none
mariadb --no-defaults --socket=db/made.sock -e "DROP DATABASE shop"
rt-setup-database-5 --action init --dba shop --dba-password shop >init.log 2>&1
perl -I/usr/share/request-tracker5/lib "$SOURCE/fill.pl" >>init.log 2>&1
mariadb_stop "$PWD/db"
chmod -R a+rwX web
chmod -R a+rX config none
