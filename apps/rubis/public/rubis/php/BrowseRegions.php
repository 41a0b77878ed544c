<?php

declare(strict_types=1);

use Tierlab\Rubis\Data\Places;
use Tierlab\Rubis\Exchange;
use Tierlab\Rubis\Html;
use Tierlab\Rubis\Page;

require __DIR__ . '/../../../library/application.php';

Page::answer('Regions', static function (Exchange $exchange): string {
    $list = "<ul>\n";
    foreach (Places::regions($exchange->sql()) as ['name' => $name]) {
        $list .= '<li>' . Html::link('BrowseCategories', ['region' => $name], Html::escape($name)) . "</li>\n";
    }
    return "$list</ul>\n";
});
