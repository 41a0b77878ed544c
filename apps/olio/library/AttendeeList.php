<?php

declare(strict_types=1);

namespace Tierlab\Olio;

use Tierlab\Olio\Data\Attendances;

/** Who comes to an event: a part of its page, and what the page's script puts in that place. */
final class AttendeeList
{
    public static function show(Statements $sql, int $event, ?string $user): string
    {
        $names = Attendances::names($sql, $event, $user);
        $list = Html::markup("<h2>%s Attendees</h2>\n", count($names));
        if ($user !== null) {
            $list .= in_array($user, $names, true)
                ? self::action('deleteAttendee', $event, 'Unattend')
                : self::action('addAttendee', $event, 'Attend');
        }
        foreach ($names as $name) {
            $list .= Html::person($name) . "<br>\n";
        }
        return $list;
    }

    private static function action(string $page, int $event, string $label): string
    {
        return Html::markup(
            "<p><a class=\"attendance\" href=\"%s\">%s</a></p>\n",
            Html::address($page, ['id' => $event]),
            $label,
        );
    }
}
