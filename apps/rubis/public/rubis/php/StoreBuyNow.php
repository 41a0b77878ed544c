<?php

declare(strict_types=1);

use Tierlab\Rubis\Data\Items;
use Tierlab\Rubis\Data\Purchases;
use Tierlab\Rubis\Exchange;
use Tierlab\Rubis\Html;
use Tierlab\Rubis\Page;
use Tierlab\Rubis\Sorry;

require __DIR__ . '/../../../library/application.php';

Page::answer('Bought', static function (Exchange $exchange): string {
    $parameters = $exchange->parameters;
    $id = $parameters->id('itemId');
    $user = $parameters->id('userId');
    $quantity = $parameters->number('qty', 1, max(1, $parameters->id('maxQty')));
    $sql = $exchange->sql();
    $now = $exchange->now();
    $sql->transaction(static function () use ($sql, $id, $user, $quantity, $now): void {
        $item = Items::locked($sql, $id);
        $left = (int) $item['quantity'] - $quantity;
        if ($left < 0) {
            throw new Sorry('others have bought this item; there are not so many left.');
        }
        Items::keep($sql, $id, $left, $left === 0 ? $now : $item['end_date']);
        Purchases::insert($sql, $user, $id, $quantity, $now);
    });
    return Html::markup("<p>You have bought %s of this item.</p>\n", $quantity);
});
