<?php

declare(strict_types=1);

namespace Tierlab\Rubis;

/** The form by which a user says who it is, on its way to a page. */
final class Login
{
    /** @param array<string, int|string> $hidden What the page needs besides. */
    public static function form(string $page, array $hidden): string
    {
        $fields = Html::field('Nickname', 'nickname') . Html::field('Password', 'password', 'password');
        return Html::form($page, $hidden, $fields, 'Log in');
    }
}
