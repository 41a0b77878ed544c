<?php

declare(strict_types=1);

use Tierlab\Rubis\BidForm;
use Tierlab\Rubis\Data\Items;
use Tierlab\Rubis\Exchange;
use Tierlab\Rubis\ItemDetails;
use Tierlab\Rubis\Page;

require __DIR__ . '/../../../library/application.php';

Page::answer('Bid', static function (Exchange $exchange): string {
    $id = $exchange->parameters->id('itemId');
    $user = $exchange->login();
    $sql = $exchange->sql();
    $item = Items::forSale($sql, $id);
    $details = ItemDetails::of($sql, $item);
    return $details->show($exchange->now()) . BidForm::show($user, $item, $details->price);
});
