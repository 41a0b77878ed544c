<?php

declare(strict_types=1);

use Tierlab\Olio\Exchange;
use Tierlab\Olio\Html;
use Tierlab\Olio\NewEvent;
use Tierlab\Olio\Page;

require __DIR__ . '/../../../library/application.php';

Page::redirect('New event', static function (Exchange $exchange): string {
    $id = NewEvent::ofForm($exchange->parameters)->store($exchange, $exchange->user());
    return Html::address('events', ['socialEventID' => $id]);
});
