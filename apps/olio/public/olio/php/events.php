<?php

declare(strict_types=1);

use Tierlab\Olio\Data\Comments;
use Tierlab\Olio\Data\Events;
use Tierlab\Olio\EventDetails;
use Tierlab\Olio\Exchange;
use Tierlab\Olio\Page;
use Tierlab\Olio\Sorry;

require __DIR__ . '/../../../library/application.php';

Page::answer('Event', static function (Exchange $exchange): string {
    $parameters = $exchange->parameters;
    $id = $parameters->id('socialEventID');
    $sql = $exchange->sql();
    $event = Events::whole($sql, $id) ?? throw new Sorry('that event does not exist.');
    if ($parameters->has('comments')) {
        $user = $exchange->user();
        $comment = $parameters->text('comments', 2_500);
        $rating = $parameters->number('rating', 1, 5);
        if ($parameters->has('editingcid')) {
            Comments::update($sql, $parameters->id('editingcid'), $id, $user, $comment, $rating, $exchange->now());
        } else {
            Comments::insert($sql, $id, $user, $comment, $rating, $exchange->now());
        }
    }
    return EventDetails::show($exchange, $event);
});
