<?php

declare(strict_types=1);

namespace Tierlab\Olio\Data;

use Tierlab\Olio\Statements;

/** Who is a friend of whom, or would like to be. All lists are whole. */
final class Friends
{
    private const PERSON = 'SELECT p.username, p.firstname, p.lastname, p.imagethumburl FROM person p';

    /** @return list<array<string, mixed>> Whom a person has for friends. */
    public static function of(Statements $sql, string $user): array
    {
        return $sql->rows(
            self::PERSON . ' JOIN person_person f ON f.friends_username = p.username'
            . ' WHERE f.person_username = ? AND f.is_accepted = 1',
            $user,
        );
    }

    /** @return list<array<string, mixed>> Who asks a person. */
    public static function asking(Statements $sql, string $user): array
    {
        return $sql->rows(
            self::PERSON . ' JOIN person_person f ON f.friends_username = p.username'
            . ' WHERE f.person_username = ? AND f.is_accepted = 0',
            $user,
        );
    }

    /** @return list<array<string, mixed>> Whom a person has asked. */
    public static function asked(Statements $sql, string $user): array
    {
        return $sql->rows(
            self::PERSON . ' JOIN person_person f ON f.person_username = p.username'
            . ' WHERE f.friends_username = ? AND f.is_accepted = 0',
            $user,
        );
    }
}
