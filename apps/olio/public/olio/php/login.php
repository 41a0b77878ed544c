<?php

declare(strict_types=1);

use Tierlab\Olio\Data\People;
use Tierlab\Olio\Exchange;
use Tierlab\Olio\Html;
use Tierlab\Olio\Page;
use Tierlab\Olio\Sorry;

require __DIR__ . '/../../../library/application.php';

Page::redirect('Login', static function (Exchange $exchange): string {
    $name = $exchange->parameters->text('user_name', 25);
    $password = $exchange->parameters->text('password', 25);
    $person = People::login($exchange->sql(), $name, $password)
        ?? throw new Sorry("there is no user $name with that password.");
    $exchange->session->login((string) $person['username']);
    return Html::address('index');
});
