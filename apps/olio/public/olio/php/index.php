<?php

declare(strict_types=1);

use Tierlab\Olio\Exchange;
use Tierlab\Olio\HomePage;
use Tierlab\Olio\Page;

require __DIR__ . '/../../../library/application.php';

Page::send('Upcoming events', static fn(Exchange $exchange): string => HomePage::show($exchange));
