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
        $category = ['category' => (int) $id];
        $named = $category + ['categoryName' => $name];
        [$page, $asked] = match (true) {
            $user !== null => ['SellItemForm', $category + ['user' => $user]],
            $region !== null => ['SearchItemsByRegion', $named + ['region' => $region]],
            default => ['SearchItemsByCategory', $named],
        };
        $list .= '<li>' . Html::link($page, $asked, Html::escape($name)) . "</li>\n";
    }
    return "$list</ul>\n";
});
