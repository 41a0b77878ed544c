<?php

declare(strict_types=1);

use Tierlab\Rubis\Data\Places;
use Tierlab\Rubis\Data\Users;
use Tierlab\Rubis\Exchange;
use Tierlab\Rubis\Html;
use Tierlab\Rubis\Page;
use Tierlab\Rubis\Sorry;
use Tierlab\Rubis\Statements;
use Tierlab\Rubis\UserDetails;

require __DIR__ . '/../../../library/application.php';

Page::answer('Registration', static function (Exchange $exchange): string {
    $parameters = $exchange->parameters;
    $firstname = $parameters->text('firstname', 20);
    $lastname = $parameters->text('lastname', 20);
    $nickname = $parameters->text('nickname', 20);
    $email = $parameters->text('email', 50);
    $password = $parameters->text('password', 20);
    $regionName = $parameters->text('region', 25);
    $sql = $exchange->sql();
    $region = Places::region($sql, $regionName);
    $taken = new Sorry('that nickname is taken; please choose another.');
    if (Users::byNickname($sql, $nickname) !== null) {
        throw $taken;
    }
    try {
        Users::insert($sql, $firstname, $lastname, $nickname, $password, $email, $region, $exchange->now());
    } catch (PDOException $failure) {
        // Somebody else may have taken the name since it was looked up.
        throw Statements::isDuplicate($failure) ? $taken : $failure;
    }
    $user = Users::byNickname($sql, $nickname) ?? throw new LogicException('the user just registered is not there');
    return "<p>You are registered.</p>\n" . UserDetails::show($user)
        . Html::markup("<p>User id: %s</p>\n", $user['id']);
});
