<?php

declare(strict_types=1);

use Tierlab\Olio\AttendeeList;
use Tierlab\Olio\Data\Attendances;
use Tierlab\Olio\Exchange;
use Tierlab\Olio\Page;

require __DIR__ . '/../../../library/application.php';

Page::send('Attendees', static function (Exchange $exchange): string {
    $event = $exchange->parameters->id('id');
    $user = $exchange->user();
    Attendances::delete($exchange->sql(), $event, $user);
    return AttendeeList::show($exchange->sql(), $event, $user);
});
