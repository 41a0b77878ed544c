<?php

declare(strict_types=1);

use Tierlab\Olio\Address;
use Tierlab\Olio\Html;
use Tierlab\Olio\Layout;
use Tierlab\Olio\Page;

require __DIR__ . '/../../../library/application.php';

Page::answer('New event', static function (): string {
    $year = (int) gmdate('Y');
    $fields = Html::field('Title', 'title') . Html::area('Summary', 'summary')
        . Html::area('Description', 'description')
        . Html::field('Telephone', 'telephone') . Html::field('Time zone', 'timezone') . Address::fields()
        . Html::select('Year', 'year', range($year, $year + 2)) . Html::select('Month', 'month', range(1, 12))
        . Html::select('Day', 'day', range(1, 31)) . Html::select('Hour', 'hour', range(0, 23))
        . Html::select('Minute', 'minute', [0, 15, 30, 45]) . Html::field('Tags', 'tags')
        . Html::field('Picture', 'upload_image', 'file') . Html::field('Literature', 'upload_literature', 'file');
    return Html::upload('addEventResult', $fields, 'addeventsubmit', 'Create') . Layout::script('validate');
});
