<?php

declare(strict_types=1);

namespace Tierlab\Olio;

/** The form by which a visitor says who it is. */
final class LoginForm
{
    public static function show(): string
    {
        $fields = Html::field('Username', 'user_name') . Html::field('Password', 'password', 'password');
        return Html::form('login', $fields, 'submit', 'Login');
    }
}
