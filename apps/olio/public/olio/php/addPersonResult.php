<?php

declare(strict_types=1);

use Tierlab\Olio\Address;
use Tierlab\Olio\Data\Addresses;
use Tierlab\Olio\Data\People;
use Tierlab\Olio\Exchange;
use Tierlab\Olio\Html;
use Tierlab\Olio\Page;
use Tierlab\Olio\Sorry;
use Tierlab\Olio\Statements;
use Tierlab\Olio\Upload;

require __DIR__ . '/../../../library/application.php';

Page::redirect('Registration', static function (Exchange $exchange): string {
    $parameters = $exchange->parameters;
    $name = $parameters->text('add_user_name', 25);
    $password = $parameters->text('psword', 25);
    if ($parameters->text('passwordx', 25) !== $password) {
        throw new Sorry('the two passwords differ.');
    }
    $person = [
        $parameters->text('first_name', 25),
        $parameters->text('last_name', 25),
        $parameters->optional('email', 90),
        $parameters->optional('telephone', 25),
        $parameters->optional('summary', 2_500),
        $parameters->optional('timezone', 100),
    ];
    $photo = Upload::ofField('user_image', ['jpg', 'png']);
    $address = Address::ofForm($parameters);
    $place = $exchange->geocoder()->locate($address);
    $sql = $exchange->sql();
    try {
        $id = $sql->transaction(static fn(): int =>
            People::insert($sql, $name, $password, ...[...$person, Addresses::insert($sql, $address, $place)]));
    } catch (PDOException $failure) {
        $taken = new Sorry('that username is taken; please choose another.');
        throw Statements::isDuplicate($failure) ? $taken : $failure;
    }
    // The photo is named once it is there; until then the person has none.
    if ($photo !== null) {
        $thumbnail = $photo->keepThumbnail($exchange->files(), "p{$id}t");
        People::nameFiles($sql, $id, $photo->keep($exchange->files(), "p$id"), $thumbnail);
    }
    return Html::address('users', ['username' => $name]);
});
