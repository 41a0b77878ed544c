<?php

declare(strict_types=1);

use Tierlab\Rubis\Data\Items;
use Tierlab\Rubis\Exchange;
use Tierlab\Rubis\Html;
use Tierlab\Rubis\Money;
use Tierlab\Rubis\Page;
use Tierlab\Rubis\Parameters;

require __DIR__ . '/../../../library/application.php';

Page::answer('Item for sale', static function (Exchange $exchange): string {
    $parameters = $exchange->parameters;
    $name = $parameters->text('name', 100);
    $days = $parameters->number('duration', 1, 7);
    Items::insert(
        $exchange->sql(),
        $name,
        $parameters->text('description', Parameters::LONGEST_TEXT),
        Money::text($parameters->money('initialPrice')),
        Money::text($parameters->money('reservePrice')),
        Money::text($parameters->money('buyNow')),
        $parameters->number('quantity', 1, 1_000),
        $exchange->now(),
        $exchange->now($days),
        $parameters->id('userId'),
        $parameters->id('categoryId'),
    );
    return Html::markup("<p>%s is for sale for %s days.</p>\n", $name, $days);
});
