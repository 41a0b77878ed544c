<?php

declare(strict_types=1);

use Tierlab\Rubis\Exchange;
use Tierlab\Rubis\Login;
use Tierlab\Rubis\Page;

require __DIR__ . '/../../../library/application.php';

Page::answer('Log in to comment', static function (Exchange $exchange): string {
    $parameters = $exchange->parameters;
    return Login::form('PutComment', ['itemId' => $parameters->id('itemId'), 'to' => $parameters->id('to')]);
});
