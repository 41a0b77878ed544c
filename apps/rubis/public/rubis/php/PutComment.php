<?php

declare(strict_types=1);

use Tierlab\Rubis\Data\Comments;
use Tierlab\Rubis\Data\Items;
use Tierlab\Rubis\Data\Users;
use Tierlab\Rubis\Exchange;
use Tierlab\Rubis\Html;
use Tierlab\Rubis\Page;
use Tierlab\Rubis\Sorry;

require __DIR__ . '/../../../library/application.php';

Page::answer('Comment', static function (Exchange $exchange): string {
    $parameters = $exchange->parameters;
    $to = $parameters->id('to');
    $id = $parameters->id('itemId');
    $from = $exchange->login();
    $sql = $exchange->sql();
    $item = Items::any($sql, $id);
    $user = Users::byId($sql, $to) ?? throw new Sorry('that user does not exist.');
    return Html::markup("<h2>Comment on %s about %s</h2>\n", $user['nickname'], $item['name'])
        . Html::form(
            'StoreComment',
            ['to' => $to, 'from' => $from, 'itemId' => $id],
            Html::select('Rating', 'rating', Comments::RATINGS)
                . "<p><textarea rows=\"20\" cols=\"80\" name=\"comment\"></textarea></p>\n",
            'Store the comment',
        );
});
