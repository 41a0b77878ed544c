<?php

declare(strict_types=1);

use Tierlab\Olio\FileStore;
use Tierlab\Olio\Settings;

require __DIR__ . '/../../../library/application.php';

$asked = $_GET['file'] ?? '';
$name = is_string($asked) ? $asked : '';
$path = (new FileStore(Settings::ofServer()->files))->find($name);
if ($path === null) {
    http_response_code(404);
    header('Content-Type: text/plain; charset=utf-8');
    echo "Sorry, there is no such file.\n";
} else {
    header('Content-Type: ' . FileStore::type($name));
    header('Content-Length: ' . filesize($path));
    readfile($path);
}
