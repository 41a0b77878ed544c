<?php

declare(strict_types=1);

use Tierlab\Rubis\CommentList;
use Tierlab\Rubis\Data\Comments;
use Tierlab\Rubis\Data\UserItems;
use Tierlab\Rubis\Data\Users;
use Tierlab\Rubis\Exchange;
use Tierlab\Rubis\Page;
use Tierlab\Rubis\Sorry;
use Tierlab\Rubis\UserDetails;
use Tierlab\Rubis\UserItemList;

require __DIR__ . '/../../../library/application.php';

Page::answer('About me', static function (Exchange $exchange): string {
    $id = $exchange->login();
    $sql = $exchange->sql();
    $user = Users::byId($sql, $id) ?? throw new Sorry('that user does not exist.');
    $items = new UserItems($sql, $exchange->settings, $id);
    $now = $exchange->now();
    $recently = $exchange->now(-30);
    return UserDetails::show($user)
        . UserItemList::show('Items you bid on', 'Your bid', $items->bidOn($now), biddable: true)
        . UserItemList::show('Items you won in the last 30 days', 'Your bid', $items->won($recently))
        . UserItemList::show('Items you bought in the last 30 days', 'Quantity', $items->bought($recently))
        . UserItemList::show('Items you sell', 'Greatest bid', $items->selling($now))
        . UserItemList::show('Items you sold in the last 30 days', 'Greatest bid', $items->sold($recently))
        . "<h2>Comments on you</h2>\n" . CommentList::show(Comments::about($sql, $exchange->settings, $id));
});
