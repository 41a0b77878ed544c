<?php

declare(strict_types=1);

namespace Tierlab\Olio\Data;

use Tierlab\Olio\Statements;

/** What was said of events. */
final class Comments
{
    /** @return list<array<string, mixed>> All of them. */
    public static function ofEvent(Statements $sql, int $event): array
    {
        return $sql->rows(
            'SELECT commentid, username, comments, ratings, created_at FROM comments_rating WHERE socialeventid = ?',
            $event,
        );
    }

    public static function insert(
        Statements $sql,
        int $event,
        string $user,
        string $comment,
        int $rating,
        string $now,
    ): void {
        $sql->change(
            'INSERT INTO comments_rating (username, socialeventid, comments, ratings, created_at, updated_at)'
            . ' VALUES (?, ?, ?, ?, ?, ?)',
            $user,
            $event,
            $comment,
            $rating,
            $now,
            $now,
        );
    }

    /** Changes a comment of the user's own. */
    public static function update(
        Statements $sql,
        int $id,
        int $event,
        string $user,
        string $comment,
        int $rating,
        string $now,
    ): void {
        $sql->change(
            'UPDATE comments_rating SET comments = ?, ratings = ?, updated_at = ?'
            . ' WHERE commentid = ? AND socialeventid = ? AND username = ?',
            $comment,
            $rating,
            $now,
            $id,
            $event,
            $user,
        );
    }
}
