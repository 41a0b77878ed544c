<?php

declare(strict_types=1);

use Tierlab\Geocoder\Coordinates;

require __DIR__ . '/../../../library/Coordinates.php';

$parts = [];
foreach (['street', 'city', 'state', 'zip'] as $name) {
    $value = $_GET[$name] ?? '';
    $parts[] = is_string($value) ? trim($value) : '';
}
header('Content-Type: text/xml; charset=utf-8');
if (implode('', $parts) === '') {
    http_response_code(400);
    echo "<?xml version=\"1.0\"?>\n<Error><Message>the address is empty</Message></Error>\n";
    return;
}
[$latitude, $longitude] = Coordinates::of(implode('|', $parts));
echo "<?xml version=\"1.0\"?>\n<ResultSet><Result precision=\"address\">"
    . "<Latitude>$latitude</Latitude><Longitude>$longitude</Longitude></Result></ResultSet>\n";
