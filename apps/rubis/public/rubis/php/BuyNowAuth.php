<?php

declare(strict_types=1);

use Tierlab\Rubis\Exchange;
use Tierlab\Rubis\Login;
use Tierlab\Rubis\Page;

require __DIR__ . '/../../../library/application.php';

Page::answer('Log in to buy', static function (Exchange $exchange): string {
    return Login::form('BuyNow', ['itemId' => $exchange->parameters->id('itemId')]);
});
