# The program in one folder, set up for a MariaDB at 127.0.0.1 that has a few tables.
. "$TOOLS/databases.sh"
cp -rL /usr/share/phpmyadmin admin 2>/dev/null || test -d admin/libraries
mkdir -p admin/tmp web
cat >admin/config.inc.php <<'END'
<?php
$cfg['blowfish_secret'] = str_repeat('x', 32);
$cfg['Servers'][1] = [
    'auth_type' => 'config', 'host' => '127.0.0.1', 'port' => '3306', 'user' => 'shop', 'password' => 'shop',
];
$cfg['TempDir'] = __DIR__ . '/tmp';
END
sed -i "s|'/etc/phpmyadmin/config.inc.php'|ROOT_PATH . 'config.inc.php'|; s|'/var/lib/phpmyadmin/tmp/'|ROOT_PATH . 'tmp/'|" \
    admin/libraries/vendor_config.php
chmod -R a+rX admin
chmod a+rwx admin/tmp
for table in items orders people; do
    echo "CREATE TABLE $table (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(80), price INT);"
    echo "INSERT INTO $table (name, price) SELECT CONCAT('$table ', seq), seq % 90 FROM seq_1_to_2000;"
done >shop.sql
mariadb_data db shop.sql
sed "s|@admin@|$PWD/admin|" "$SOURCE/httpd.conf" >web/httpd.conf
