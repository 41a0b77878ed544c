<?php

declare(strict_types=1);

use Tierlab\Rubis\Data\Bids;
use Tierlab\Rubis\Data\Items;
use Tierlab\Rubis\Exchange;
use Tierlab\Rubis\Html;
use Tierlab\Rubis\Money;
use Tierlab\Rubis\Page;
use Tierlab\Rubis\Sorry;

require __DIR__ . '/../../../library/application.php';

Page::answer('Bid stored', static function (Exchange $exchange): string {
    $parameters = $exchange->parameters;
    $id = $parameters->id('itemId');
    $user = $parameters->id('userId');
    $least = $parameters->money('minBid');
    $bid = $parameters->money('bid');
    $most = $parameters->money('maxBid', $bid);
    $quantity = $parameters->number('qty', 1, max(1, $parameters->id('maxQty')));
    if ($bid < $least) {
        throw new Sorry('your bid is below the least bid, ' . Money::text($least) . '.');
    }
    if ($most < $bid) {
        throw new Sorry('the most that you would give is below your bid.');
    }
    $sql = $exchange->sql();
    $now = $exchange->now();
    $sql->transaction(static function () use ($sql, $id, $user, $quantity, $bid, $most, $now): void {
        $item = Items::locked($sql, $id);
        if ($item['end_date'] < $now || (int) $item['quantity'] === 0) {
            throw new Sorry('the auction is over.');
        }
        Bids::insert($sql, $user, $id, $quantity, Money::text($bid), Money::text($most), $now);
        Items::countBid($sql, $id, Money::text($bid));
    });
    return Html::markup("<p>Your bid of %s was stored.</p>\n", Money::text($bid));
});
