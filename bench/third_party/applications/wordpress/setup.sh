. "$TOOLS/databases.sh"
cp -rL /usr/share/wordpress site 2>/dev/null || test -d site/wp-admin
mkdir -p site/wp-content/themes site/wp-content/uploads web
cp -rL /usr/share/wordpress/wp-content/themes/. /var/lib/wordpress/wp-content/themes/. site/wp-content/themes/ 2>/dev/null || true
cat >site/wp-config.php <<'END'
<?php
define('DB_NAME', 'shop');
define('DB_USER', 'shop');
define('DB_PASSWORD', 'shop');
define('DB_HOST', '127.0.0.1:' . (getenv('DATABASE_PORT') ?: '3306'));
define('DB_CHARSET', 'utf8mb4');
define('DB_COLLATE', '');
define('WP_HTTP_BLOCK_EXTERNAL', true);
define('DISABLE_WP_CRON', true);
define('AUTOMATIC_UPDATER_DISABLED', true);
$host = $_SERVER['HTTP_HOST'] ?? '127.0.0.1';
define('WP_HOME', "http://$host");
define('WP_SITEURL', "http://$host");
$table_prefix = 'wp_';
if (!defined('ABSPATH')) { define('ABSPATH', __DIR__ . '/'); }
require_once ABSPATH . 'wp-settings.php';
END
mariadb_data db
mariadb_start "$PWD/db" 13307
DATABASE_PORT=13307 php8.2 "$SOURCE/fill.php" site
mariadb_stop "$PWD/db"
chmod -R a+rX site
chmod -R a+rwX site/wp-content/uploads
sed "s|@site@|$PWD/site|" "$SOURCE/httpd.conf" >web/httpd.conf
