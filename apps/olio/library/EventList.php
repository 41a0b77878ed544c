<?php

declare(strict_types=1);

namespace Tierlab\Olio;

use Tierlab\Olio\Data\Attendances;

/** Events, each with its picture, and how many come. */
final class EventList
{
    private const WIDTH = 90;

    /**
     * Asks for the attendees of every event by itself, as published.
     *
     * @param list<array<string, mixed>> $events
     */
    public static function show(Statements $sql, array $events): string
    {
        if ($events === []) {
            return "<p>There are no events.</p>\n";
        }
        $list = '';
        foreach ($events as $event) {
            $id = (int) $event['socialeventid'];
            $list .= "<article>\n" . Html::picture((string) $event['imagethumburl'], 'Event', self::WIDTH)
                . "\n<h2>" . Html::link('events', ['socialEventID' => $id], (string) $event['title']) . "</h2>\n"
                . Html::markup("<p>%s</p>\n<p>On %s, ", $event['summary'], $event['eventdate'])
                . Html::markup('posted %s by ', $event['createdtimestamp'])
                . Html::person($event['submitterusername'])
                . Html::markup("; %s attend.</p>\n</article>\n", Attendances::count($sql, $id));
        }
        return $list;
    }

    /**
     * Titles only, each a link.
     *
     * @param list<array<string, mixed>> $events
     */
    public static function titles(array $events): string
    {
        if ($events === []) {
            return "<p>There are no events.</p>\n";
        }
        $list = '';
        foreach ($events as $event) {
            $link = Html::link('events', ['socialEventID' => (int) $event['socialeventid']], (string) $event['title']);
            $list .= "<li>$link</li>\n";
        }
        return "<ol>\n$list</ol>\n";
    }
}
