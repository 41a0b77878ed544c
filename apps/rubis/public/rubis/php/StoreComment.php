<?php

declare(strict_types=1);

use Tierlab\Rubis\Data\Comments;
use Tierlab\Rubis\Data\Users;
use Tierlab\Rubis\Exchange;
use Tierlab\Rubis\Page;
use Tierlab\Rubis\Parameters;
use Tierlab\Rubis\Sorry;

require __DIR__ . '/../../../library/application.php';

Page::answer('Comment stored', static function (Exchange $exchange): string {
    $parameters = $exchange->parameters;
    $to = $parameters->id('to');
    $from = $parameters->id('from');
    $id = $parameters->id('itemId');
    $rating = $parameters->choice('rating', array_keys(Comments::RATINGS));
    $comment = $parameters->text('comment', Parameters::LONGEST_TEXT);
    $sql = $exchange->sql();
    $now = $exchange->now();
    $sql->transaction(static function () use ($sql, $to, $from, $id, $rating, $comment, $now): void {
        if (!Users::rate($sql, $to, $rating)) {
            throw new Sorry('the user that you comment on does not exist.');
        }
        Comments::insert($sql, $from, $to, $id, $rating, $now, $comment);
    });
    return "<p>Your comment was stored.</p>\n";
});
