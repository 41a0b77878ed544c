<?php

declare(strict_types=1);

use Tierlab\Olio\Data\People;
use Tierlab\Olio\Exchange;
use Tierlab\Olio\Page;
use Tierlab\Olio\PersonDetails;
use Tierlab\Olio\Sorry;

require __DIR__ . '/../../../library/application.php';

Page::answer('Person', static function (Exchange $exchange): string {
    $name = $exchange->parameters->text('username', 25);
    $person = People::whole($exchange->sql(), $name) ?? throw new Sorry("there is no user $name.");
    return PersonDetails::show($exchange, $person);
});
