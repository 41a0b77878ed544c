<?php

declare(strict_types=1);

use Tierlab\Rubis\Data\Items;
use Tierlab\Rubis\Exchange;
use Tierlab\Rubis\ItemDetails;
use Tierlab\Rubis\Page;

require __DIR__ . '/../../../library/application.php';

Page::answer('Item', static function (Exchange $exchange): string {
    $id = $exchange->parameters->id('itemId');
    $sql = $exchange->sql();
    return ItemDetails::of($sql, Items::any($sql, $id))->show($exchange->now());
});
