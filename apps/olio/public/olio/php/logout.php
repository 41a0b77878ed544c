<?php

declare(strict_types=1);

use Tierlab\Olio\Exchange;
use Tierlab\Olio\Html;
use Tierlab\Olio\Page;

require __DIR__ . '/../../../library/application.php';

Page::redirect('Logout', static function (Exchange $exchange): string {
    $exchange->session->end();
    return Html::address('index');
});
