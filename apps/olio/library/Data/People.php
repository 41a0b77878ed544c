<?php

declare(strict_types=1);

namespace Tierlab\Olio\Data;

use Tierlab\Olio\Statements;

/** The people who are registered. */
final class People
{
    /** @return ?array<string, mixed> The person with that name and password, if there is one. */
    public static function login(Statements $sql, string $name, string $password): ?array
    {
        return $sql->row('SELECT userid, username FROM person WHERE username = ? AND password = ?', $name, $password);
    }

    /** @return ?array<string, mixed> All of one person, with its address. */
    public static function whole(Statements $sql, string $name): ?array
    {
        return $sql->row(
            'SELECT p.userid, p.username, p.firstname, p.lastname, p.email, p.telephone, p.imageurl, p.summary,'
            . ' p.timezone, ' . Addresses::COLUMNS
            . ' FROM person p JOIN address a ON a.addressid = p.address_addressid WHERE p.username = ?',
            $name,
        );
    }

    /** The new row's number; throws a PDOException of a duplicate where the name is taken. */
    public static function insert(
        Statements $sql,
        string $name,
        string $password,
        string $firstName,
        string $lastName,
        string $email,
        string $telephone,
        string $summary,
        string $timezone,
        int $address,
    ): int {
        return $sql->insert(
            'INSERT INTO person (username, password, firstname, lastname, email, telephone, imageurl, imagethumburl,'
            . " summary, timezone, address_addressid) VALUES (?, ?, ?, ?, ?, ?, '', '', ?, ?, ?)",
            $name,
            $password,
            $firstName,
            $lastName,
            $email,
            $telephone,
            $summary,
            $timezone,
            $address,
        );
    }

    public static function nameFiles(Statements $sql, int $id, string $image, string $thumbnail): void
    {
        $sql->change('UPDATE person SET imageurl = ?, imagethumburl = ? WHERE userid = ?', $image, $thumbnail, $id);
    }
}
