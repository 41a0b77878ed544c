<?php

declare(strict_types=1);

namespace Tierlab\Olio\Data;

use Tierlab\Olio\Statements;

/** Who comes to which event. */
final class Attendances
{
    public static function count(Statements $sql, int $event): int
    {
        return (int) $sql->value('SELECT COUNT(username) FROM person_socialevent WHERE socialeventid = ?', $event);
    }

    /**
     * The names of who comes, the user's own first.
     *
     * @return list<string>
     */
    public static function names(Statements $sql, int $event, ?string $user): array
    {
        $rows = $user === null
            ? $sql->rows('SELECT username FROM person_socialevent WHERE socialeventid = ?', $event)
            : $sql->rows(
                'SELECT 0 AS place, username FROM person_socialevent WHERE socialeventid = ? AND username = ?'
                . ' UNION SELECT 1 AS place, username FROM person_socialevent WHERE socialeventid = ? AND username <> ?'
                . ' ORDER BY place',
                $event,
                $user,
                $event,
                $user,
            );
        return array_map(strval(...), array_column($rows, 'username'));
    }

    public static function has(Statements $sql, int $event, string $user): bool
    {
        return 0 < (int) $sql->value(
            'SELECT COUNT(username) FROM person_socialevent WHERE socialeventid = ? AND username = ?',
            $event,
            $user,
        );
    }

    /** Throws a PDOException of a duplicate where the user comes already. */
    public static function insert(Statements $sql, int $event, string $user): void
    {
        $sql->change('INSERT INTO person_socialevent (username, socialeventid) VALUES (?, ?)', $user, $event);
    }

    public static function delete(Statements $sql, int $event, string $user): void
    {
        $sql->change('DELETE FROM person_socialevent WHERE username = ? AND socialeventid = ?', $user, $event);
    }
}
