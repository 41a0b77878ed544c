. "$TOOLS/databases.sh"
mariadb_data db
mariadb_start "$PWD/db" 13308
mkdir -p config/cache web app
php8.2 /usr/share/mediawiki/maintenance/install.php --dbtype=mysql --dbserver=127.0.0.1:13308 --dbname=shop \
    --dbuser=shop --dbpass=shop --server=http://127.0.0.1 --scriptpath= --confpath="$PWD/config" \
    --pass=correct-horse-battery --skins=Vector,MonoBook Wiki Admin >installed.log 2>&1
cat >>config/LocalSettings.php <<'END'
$wgDBserver = '127.0.0.1:' . ( getenv( 'DATABASE_PORT' ) ?: '3306' );
$wgServer = isset( $_SERVER['HTTP_HOST'] ) ? 'http://' . $_SERVER['HTTP_HOST'] : 'http://127.0.0.1';
$wgMainCacheType = getenv( 'DATABASE_PORT' ) ? CACHE_NONE : CACHE_MEMCACHED;
$wgParserCacheType = $wgMainCacheType;
$wgMemCachedServers = [ getenv( 'MEMCACHED' ) ];
$wgCacheDirectory = __DIR__ . '/cache';
$wgEnableUploads = false;
$wgJobRunRate = 0;
END
export MW_CONFIG_FILE="$PWD/config/LocalSettings.php" DATABASE_PORT=13308
names="Lamps Chairs Tables Orders Terms Help Shop About Prices Returns Delivery Kitchen"
mkdir texts
for name in $names; do
    {
        echo "The '''$name''' of the shop."
        for other in $names; do echo "* [[$other]]"; done
        for number in $(seq 40); do echo "== Part $number =="; echo "Text ''$number'' of [[Shop]] and [[Terms]]."; done
    } >"texts/$name"
done
cp texts/Shop "texts/Main Page"
php8.2 /usr/share/mediawiki/maintenance/importTextFiles.php --overwrite texts/* >>installed.log 2>&1
php8.2 /usr/share/mediawiki/maintenance/runJobs.php >>installed.log 2>&1
mariadb_stop "$PWD/db"
chmod -R a+rwX config
sed "s|@config@|$PWD/config/LocalSettings.php|" "$SOURCE/nginx.conf" >web/nginx.conf
cp "$SOURCE/fpm.conf" app/fpm.conf
