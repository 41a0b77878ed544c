<?php

declare(strict_types=1);

use Tierlab\Olio\AttendeeList;
use Tierlab\Olio\Data\Attendances;
use Tierlab\Olio\Exchange;
use Tierlab\Olio\Page;
use Tierlab\Olio\Statements;

require __DIR__ . '/../../../library/application.php';

Page::send('Attendees', static function (Exchange $exchange): string {
    $event = $exchange->parameters->id('id');
    $user = $exchange->user();
    $sql = $exchange->sql();
    if (!Attendances::has($sql, $event, $user)) {
        try {
            Attendances::insert($sql, $event, $user);
        } catch (PDOException $failure) {
            // The same user may have been quicker by another window.
            if (!Statements::isDuplicate($failure)) {
                throw $failure;
            }
        }
    }
    return AttendeeList::show($sql, $event, $user);
});
