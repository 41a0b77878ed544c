<?php

declare(strict_types=1);

namespace Tierlab\Rubis\Data;

use Tierlab\Rubis\Statements;

/** The users, who sell, bid and buy. */
final class Users
{
    private const COLUMNS = 'id, firstname, lastname, nickname, email, rating, creation_date';

    /** The id of the user with that nickname and password, if there is one. */
    public static function login(Statements $sql, string $nickname, string $password): ?int
    {
        $id = $sql->value('SELECT id FROM users WHERE nickname = ? AND password = ?', $nickname, $password);
        return $id === null ? null : (int) $id;
    }

    /** @return ?array<string, mixed> */
    public static function byId(Statements $sql, int $id): ?array
    {
        return $sql->row('SELECT ' . self::COLUMNS . ' FROM users WHERE id = ?', $id);
    }

    /** @return ?array<string, mixed> */
    public static function byNickname(Statements $sql, string $nickname): ?array
    {
        return $sql->row('SELECT ' . self::COLUMNS . ' FROM users WHERE nickname = ?', $nickname);
    }

    public static function nickname(Statements $sql, int $id): string
    {
        return (string) $sql->value('SELECT nickname FROM users WHERE id = ?', $id);
    }

    /** Throws a PDOException of a duplicate where the nickname is taken. */
    public static function insert(
        Statements $sql,
        string $firstname,
        string $lastname,
        string $nickname,
        string $password,
        string $email,
        int $region,
        string $now,
    ): void {
        $sql->change(
            'INSERT INTO users (firstname, lastname, nickname, password, email, rating, balance,'
            . ' creation_date, region) VALUES (?, ?, ?, ?, ?, 0, 0, ?, ?)',
            $firstname,
            $lastname,
            $nickname,
            $password,
            $email,
            $now,
            $region,
        );
    }

    /** Adds to a user's rating in a transaction; false if there is no such user. */
    public static function rate(Statements $sql, int $id, int $rating): bool
    {
        $before = $sql->value('SELECT rating FROM users WHERE id = ? FOR UPDATE', $id);
        if ($before === null) {
            return false;
        }
        $sql->change('UPDATE users SET rating = ? WHERE id = ?', (int) $before + $rating, $id);
        return true;
    }
}
