<?php

declare(strict_types=1);

use Tierlab\Rubis\Data\Bids;
use Tierlab\Rubis\Data\Items;
use Tierlab\Rubis\Exchange;
use Tierlab\Rubis\Html;
use Tierlab\Rubis\Page;

require __DIR__ . '/../../../library/application.php';

Page::answer('Bids', static function (Exchange $exchange): string {
    $id = $exchange->parameters->id('itemId');
    $sql = $exchange->sql();
    $name = Items::name($sql, $id);
    $bids = Bids::history($sql, $exchange->settings, $id);
    $page = '<h2>' . Html::link('ViewItem', ['itemId' => $id], Html::escape($name)) . "</h2>\n";
    if ($bids === []) {
        return "$page<p>Nobody has bid on this item yet.</p>\n";
    }
    $page .= "<table>\n<tr><th>Bidder</th><th>Bid</th><th>On</th></tr>\n";
    foreach ($bids as $bid) {
        $bidder = Html::link('ViewUserInfo', ['userId' => (int) $bid['user_id']], Html::escape($bid['nickname']));
        $page .= "<tr><td>$bidder</td>" . Html::markup("<td>%s</td><td>%s</td></tr>\n", $bid['bid'], $bid['date']);
    }
    return "$page</table>\n";
});
