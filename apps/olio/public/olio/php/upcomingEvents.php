<?php

declare(strict_types=1);

use Tierlab\Olio\Data\Events;
use Tierlab\Olio\EventList;
use Tierlab\Olio\Exchange;
use Tierlab\Olio\Page;
use Tierlab\Olio\Paging;
use Tierlab\Olio\Slice;

require __DIR__ . '/../../../library/application.php';

Page::answer('Events that you attend', static function (Exchange $exchange): string {
    $user = $exchange->user();
    if (!$exchange->parameters->has('page')) {
        return EventList::titles(Events::attendedBy($exchange, $user, new Slice(0, 3)));
    }
    $paging = Paging::asked($exchange->parameters);
    return EventList::titles(Events::attendedBy($exchange, $user, new Slice($paging->offset(), Paging::ROWS)));
});
