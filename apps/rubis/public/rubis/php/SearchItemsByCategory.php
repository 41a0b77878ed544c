<?php

declare(strict_types=1);

use Tierlab\Rubis\Data\Items;
use Tierlab\Rubis\Exchange;
use Tierlab\Rubis\Html;
use Tierlab\Rubis\ItemList;
use Tierlab\Rubis\Page;

require __DIR__ . '/../../../library/application.php';

Page::answer('Items of a category', static function (Exchange $exchange): string {
    $parameters = $exchange->parameters;
    $slice = $parameters->slice();
    $asked = ['category' => $parameters->id('category')];
    if ($parameters->has('categoryName')) {
        $asked['categoryName'] = $parameters->text('categoryName', 50);
    }
    $items = Items::ofCategory($exchange->sql(), $exchange->settings, $asked['category'], $exchange->now(), $slice);
    return Html::markup("<h2>%s</h2>\n", $asked['categoryName'] ?? "Category {$asked['category']}")
        . ItemList::show($items, $slice, $exchange->settings, 'SearchItemsByCategory', $asked);
});
