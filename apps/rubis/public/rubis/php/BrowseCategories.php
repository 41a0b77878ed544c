<?php

declare(strict_types=1);

use Tierlab\Rubis\Data\Places;
use Tierlab\Rubis\Exchange;
use Tierlab\Rubis\Html;
use Tierlab\Rubis\Page;

require __DIR__ . '/../../../library/application.php';

// Three pages in one, as published: all categories, those of a region, and for who logs in to sell.
Page::answer('Categories', static function (Exchange $exchange): string {
    $parameters = $exchange->parameters;
    $sql = $exchange->sql();
    $user = $parameters->has('nickname') ? $exchange->login() : null;
    $region = $parameters->has('region') ? Places::region($sql, $parameters->text('region', 25)) : null;
    $list = "<ul>\n";
    foreach (Places::categories($sql) as ['id' => $id, 'name' => $name]) {
        $named = ['category' => (int) $id, 'categoryName' => $name];
        $link = match (true) {
            $user !== null => Html::link('SellItemForm', ['category' => (int) $id, 'user' => $user], Html::escape($name)),
            $region !== null => Html::link('SearchItemsByRegion', $named + ['region' => $region], Html::escape($name)),
            default => Html::link('SearchItemsByCategory', $named, Html::escape($name)),
        };
        $list .= "<li>$link</li>\n";
    }
    return "$list</ul>\n";
});
