<?php

declare(strict_types=1);

namespace Tierlab\Olio;

use Tierlab\Olio\Data\Comments;
use Tierlab\Olio\Data\Tags;

/** One event: where and when, who comes, what it is about and what was said of it. */
final class EventDetails
{
    private const WIDTH = 150;

    /** @param array<string, mixed> $event */
    public static function show(Exchange $exchange, array $event): string
    {
        $sql = $exchange->sql();
        $id = (int) $event['socialeventid'];
        $user = $exchange->session->user();
        return self::facts($event)
            . "<section id=\"attendees\">\n" . AttendeeList::show($sql, $id, $user) . "</section>\n"
            . Html::markup("<section>\n<h2>Summary</h2>\n<p>%s</p>\n", $event['summary'])
            . Html::markup("<h2>Description</h2>\n<p>%s</p>\n</section>\n", $event['description'])
            . "<section class=\"cloud\">\n<h2>Tags</h2>\n" . TagCloud::show(Tags::ofEvent($sql, $id)) . "</section>\n"
            . "<section>\n<h2>Comments</h2>\n" . CommentList::show(Comments::ofEvent($sql, $id))
            . ($user === null ? "<p>Log in to leave a comment.</p>\n" : CommentList::form($id)) . "</section>\n"
            . Layout::script('stars');
    }

    /** @param array<string, mixed> $event */
    private static function facts(array $event): string
    {
        $file = (string) $event['literatureurl'];
        $literature = $file === '' ? '' : '<p>' . Html::link('fileService', ['file' => $file], 'Literature') . "</p>\n";
        return "<section>\n" . Html::picture((string) $event['imagethumburl'], 'Event', self::WIDTH) . "\n"
            . Html::markup("<p>%s %s</p>\n", $event['eventtimestamp'], $event['timezone'])
            . Address::show($event)
            . Html::markup("<p>At %s, %s</p>\n", $event['latitude'], $event['longitude'])
            . Html::markup("<p>Contact: %s; posted by ", $event['telephone'])
            . Html::person($event['submitterusername']) . "</p>\n"
            . "$literature</section>\n";
    }
}
