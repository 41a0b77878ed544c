<?php

declare(strict_types=1);

use Tierlab\Olio\Address;
use Tierlab\Olio\Html;
use Tierlab\Olio\Layout;
use Tierlab\Olio\Page;

require __DIR__ . '/../../../library/application.php';

Page::answer('Registration', static function (): string {
    $fields = Html::field('Username', 'add_user_name') . Html::field('Password', 'psword', 'password')
        . Html::field('The password again', 'passwordx', 'password')
        . Html::field('First name', 'first_name') . Html::field('Last name', 'last_name')
        . Html::field('E-mail', 'email')
        . Address::fields() . Html::field('Telephone', 'telephone') . Html::field('Time zone', 'timezone')
        . Html::field('Photo', 'user_image', 'file') . Html::area('About you', 'summary');
    return Html::upload('addPersonResult', $fields, 'addpersonsubmit', 'Create') . Layout::script('validate');
});
