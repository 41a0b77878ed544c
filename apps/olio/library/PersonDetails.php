<?php

declare(strict_types=1);

namespace Tierlab\Olio;

use Tierlab\Olio\Data\Events;
use Tierlab\Olio\Data\Friends;

/** One person: the photo, the events that it posted, its friends, and who would like to be one. */
final class PersonDetails
{
    private const PHOTO_WIDTH = 480;
    private const FRIEND_WIDTH = 50;

    /** @param array<string, mixed> $person */
    public static function show(Exchange $exchange, array $person): string
    {
        $sql = $exchange->sql();
        $name = (string) $person['username'];
        $page = "<section>\n" . Html::picture((string) $person['imageurl'], 'Photo', self::PHOTO_WIDTH) . "\n"
            . Html::markup("<p>%s %s, %s</p>\n", $person['firstname'], $person['lastname'], $person['timezone'])
            . Address::show($person)
            . Html::markup("<p>%s, %s</p>\n", $person['telephone'], $person['email'])
            . Html::markup("<p>%s</p>\n</section>\n", $person['summary'])
            . "<section>\n<h2>Recently posted events</h2>\n"
            . EventList::titles(Events::postedBy($exchange, $name, new Slice(0, Paging::ROWS)))
            . '<p>' . Html::link('postedEvents', ['username' => $name], 'More') . "</p>\n</section>\n"
            . "<section>\n<h2>Friends</h2>\n" . self::friends(Friends::of($sql, $name)) . "</section>\n";
        return $page . self::requests('Who asks to be a friend', Friends::asking($sql, $name))
            . self::requests('Who was asked', Friends::asked($sql, $name));
    }

    /** @param list<array<string, mixed>> $friends */
    private static function friends(array $friends): string
    {
        if ($friends === []) {
            return "<p>This person has no friends.</p>\n";
        }
        $cloud = '';
        foreach ($friends as $friend) {
            $cloud .= Html::picture((string) $friend['imagethumburl'], 'Friend', self::FRIEND_WIDTH)
                . Html::person($friend['username'], "{$friend['firstname']} {$friend['lastname']}") . "\n";
        }
        return "<p>\n$cloud</p>\n";
    }

    /** @param list<array<string, mixed>> $people */
    private static function requests(string $title, array $people): string
    {
        if ($people === []) {
            return '';
        }
        $list = Html::markup("<section>\n<h2>%s</h2>\n<p>\n", $title);
        foreach ($people as $person) {
            $list .= Html::person($person['username'], "{$person['firstname']} {$person['lastname']}") . "\n";
        }
        return "$list</p>\n</section>\n";
    }
}
