# The program, its configuration and its pages in one folder, which PHP-FPM may write to.
cp -rL /usr/share/dokuwiki wiki 2>/dev/null || test -d wiki/inc
cp -r /etc/dokuwiki/. wiki/conf/
echo "<?php define('DOKU_CONF', __DIR__ . '/../conf/');" >wiki/inc/preload.php
cat >wiki/conf/local.php <<'END'
<?php
$conf['savedir'] = './data';
$conf['useacl'] = 0;
$conf['title'] = 'Wiki';
$conf['updatecheck'] = 0;
END
for folder in pages attic media media_attic meta media_meta cache index locks tmp log; do
    mkdir -p wiki/data/$folder
done
names="start shop help orders chairs lamps tables terms"
for name in $names; do
    {
        echo "====== The $name ======"
        for other in $names; do echo "  * [[$other]]"; done
        for number in $(seq 40); do echo; echo "Paragraph $number of the **$name** page has //words// in it."; done
    } >wiki/data/pages/"$name".txt
done
chmod -R a+rwX wiki
mkdir -p web app
sed "s|@wiki@|$PWD/wiki|" "$SOURCE/nginx.conf" >web/nginx.conf
cp "$SOURCE/fpm.conf" app/fpm.conf
