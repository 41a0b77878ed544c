<?php

declare(strict_types=1);

use Tierlab\Rubis\Exchange;
use Tierlab\Rubis\Html;
use Tierlab\Rubis\Page;

require __DIR__ . '/../../../library/application.php';

Page::answer('Sell an item', static function (Exchange $exchange): string {
    $parameters = $exchange->parameters;
    $fields = Html::field('Name', 'name')
        . "<p><textarea rows=\"20\" cols=\"80\" name=\"description\"></textarea></p>\n"
        . Html::field('First bid at', 'initialPrice')
        . Html::field('Reserve price (0: none)', 'reservePrice', value: '0')
        . Html::field('Buy-now price (0: none)', 'buyNow', value: '0')
        . Html::field('Days', 'duration', 'number', '7')
        . Html::field('Quantity', 'quantity', 'number', '1');
    $hidden = ['categoryId' => $parameters->id('category'), 'userId' => $parameters->id('user')];
    return Html::form('RegisterItem', $hidden, $fields, 'Sell');
});
