<?php
// A page that waits 20 ms for its database, at a UNIX socket.
$db = new mysqli(null, getenv('DB_USER'), getenv('DB_PASSWORD'), getenv('DB_NAME'), 0, getenv('DB_SOCKET'));
$row = $db->query('SELECT 1 + 1 AS sum, SLEEP(0.02)')->fetch_assoc();
echo '<html><a href="/more">' . $row['sum'] . '</a></html>';
