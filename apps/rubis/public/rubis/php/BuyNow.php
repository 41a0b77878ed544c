<?php

declare(strict_types=1);

use Tierlab\Rubis\Data\Items;
use Tierlab\Rubis\Data\Users;
use Tierlab\Rubis\Exchange;
use Tierlab\Rubis\Html;
use Tierlab\Rubis\Money;
use Tierlab\Rubis\Page;
use Tierlab\Rubis\Sorry;

require __DIR__ . '/../../../library/application.php';

// Sells what has no buy-now price at its present price: the published users buy whatever they see.
Page::answer('Buy now', static function (Exchange $exchange): string {
    $id = $exchange->parameters->id('itemId');
    $user = $exchange->login();
    $sql = $exchange->sql();
    $item = Items::forSale($sql, $id);
    $quantity = (int) $item['quantity'];
    if ($quantity === 0) {
        throw new Sorry('this item is sold out.');
    }
    [$price, $bid, $initial] = array_map(
        static fn (string $column): int => Money::cents((string) $item[$column]),
        ['buy_now', 'max_bid', 'initial_price'],
    );
    $price = $price > 0 ? $price : max($bid, $initial);
    $seller = Users::nickname($sql, (int) $item['seller']);
    $choices = range(1, $quantity);
    return Html::markup("<h2>%s</h2>\n<p>%s each, of %s</p>\n", $item['name'], Money::text($price), $seller)
        . Html::form(
            'StoreBuyNow',
            ['itemId' => $id, 'userId' => $user, 'maxQty' => $quantity],
            Html::select('Quantity', 'qty', array_combine($choices, $choices)),
            'Buy now',
        );
});
