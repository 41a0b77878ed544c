<?php

declare(strict_types=1);

namespace Tierlab\Rubis;

/** Who a user is. */
final class UserDetails
{
    /** @param array<string, mixed> $user */
    public static function show(array $user): string
    {
        return Html::markup(
            "<h2>%s</h2>\n<ul>\n<li>Name: %s %s</li>\n<li>Email: %s</li>\n"
            . "<li>Rating: %s</li>\n<li>Registered: %s</li>\n</ul>\n",
            $user['nickname'],
            $user['firstname'],
            $user['lastname'],
            $user['email'],
            $user['rating'],
            $user['creation_date'],
        );
    }
}
