<?php

declare(strict_types=1);

use Tierlab\Olio\Data\Events;
use Tierlab\Olio\EventList;
use Tierlab\Olio\Exchange;
use Tierlab\Olio\Page;
use Tierlab\Olio\Paging;
use Tierlab\Olio\Slice;

require __DIR__ . '/../../../library/application.php';

Page::answer('Posted events', static function (Exchange $exchange): string {
    $name = $exchange->parameters->text('username', 25);
    $paging = Paging::asked($exchange->parameters);
    return EventList::titles(Events::postedBy($exchange, $name, new Slice($paging->offset(), Paging::ROWS)));
});
