<?php

declare(strict_types=1);

namespace Tierlab\Rubis\Data;

use Tierlab\Rubis\Settings;
use Tierlab\Rubis\Statements;

/** What users say of each other. */
final class Comments
{
    public const RATINGS = [
        5 => 'Excellent',
        3 => 'Above average',
        0 => 'Average',
        -3 => 'Below average',
        -5 => 'Bad',
    ];

    /** How many comments on a user a page lists; as published, all. */
    private const LISTED = 25;

    /**
     * The comments on a user with their authors, the newest first, in no order as published. The
     * published pages ask for every author by itself.
     *
     * @return list<array<string, mixed>>
     */
    public static function about(Statements $sql, Settings $settings, int $user): array
    {
        if (!$settings->published) {
            return $sql->rows(
                'SELECT c.from_user_id, c.rating, c.date, c.comment, u.nickname FROM comments c'
                . ' JOIN users u ON u.id = c.from_user_id'
                . ' WHERE c.to_user_id = ? ORDER BY c.date DESC, c.id DESC LIMIT ?',
                $user,
                self::LISTED,
            );
        }
        $comments = $sql->rows(
            'SELECT from_user_id, rating, date, comment FROM comments WHERE to_user_id = ?',
            $user,
        );
        foreach ($comments as &$comment) {
            $comment['nickname'] = Users::nickname($sql, (int) $comment['from_user_id']);
        }
        return $comments;
    }

    public static function insert(
        Statements $sql,
        int $from,
        int $to,
        int $item,
        int $rating,
        string $now,
        string $comment,
    ): void {
        $sql->change(
            'INSERT INTO comments (from_user_id, to_user_id, item_id, rating, date, comment)'
            . ' VALUES (?, ?, ?, ?, ?, ?)',
            $from,
            $to,
            $item,
            $rating,
            $now,
            $comment,
        );
    }
}
