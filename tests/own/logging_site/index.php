<?php
// A page that asks three servers at UNIX sockets; `/ready` asks none.
if ($_SERVER['REQUEST_URI'] === '/ready') {
    exit('ready');
}
$maria = new mysqli(null, 'root', null, 'mysql', 0, getenv('DB_SOCKET'));
$maria->query('SELECT 1 + 1');
$maria->query('SELECT 2 + 2');
$postgres = pg_connect('user=shop dbname=postgres host=' . dirname(getenv('PG_SOCKET')));
pg_query($postgres, 'SELECT 3 + 3');
pg_query_params($postgres, 'SELECT 4 + $1::int', [4]);
$redis = stream_socket_client('unix://' . getenv('CACHE_SOCKET'));
for ($at = 0; $at < 3; $at++) {
    fwrite($redis, "*2\r\n$4\r\nINCR\r\n$5\r\npages\r\n");
    fgets($redis);
}
echo '<html><a href="/more">more</a></html>';
// The reply goes now, and the page works on.
fastcgi_finish_request();
$maria->query('SELECT 5 + 5');
