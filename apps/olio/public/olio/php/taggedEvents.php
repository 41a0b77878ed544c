<?php

declare(strict_types=1);

use Tierlab\Olio\Data\Events;
use Tierlab\Olio\Data\Tags;
use Tierlab\Olio\EventList;
use Tierlab\Olio\Exchange;
use Tierlab\Olio\Html;
use Tierlab\Olio\Page;
use Tierlab\Olio\Paging;

require __DIR__ . '/../../../library/application.php';

Page::answer('Tagged events', static function (Exchange $exchange): string {
    $parameters = $exchange->parameters;
    $tag = $parameters->text('tag', 30);
    $sql = $exchange->sql();
    $paging = Paging::asked($parameters);
    $count = $parameters->has('count') ? $parameters->number('count', 0, 1_000_000) : Tags::count($sql, $tag);
    $events = [];
    foreach (Tags::events($sql, $tag, Paging::ROWS, $paging->offset()) as $id) {
        $event = Events::listed($sql, $id);
        if ($event !== null) {
            $events[] = $event;
        }
    }
    return Html::markup("<p>Events with the tag %s</p>\n", $tag) . EventList::show($sql, $events)
        . $paging->links('taggedEvents', ['tag' => $tag, 'count' => $count], $count);
});
