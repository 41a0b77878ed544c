<?php

declare(strict_types=1);

namespace Tierlab\Rubis\Data;

use Tierlab\Rubis\Settings;
use Tierlab\Rubis\Statements;

/** The bids on items. */
final class Bids
{
    /** How many bids of an item a page lists; as published, all. */
    private const LISTED = 50;

    /** The greatest bid on an item, null without one. */
    public static function greatest(Statements $sql, int $item): ?string
    {
        $greatest = $sql->value('SELECT MAX(bid) FROM bids WHERE item_id = ?', $item);
        return $greatest === null ? null : (string) $greatest;
    }

    public static function count(Statements $sql, int $item): int
    {
        return (int) $sql->value('SELECT COUNT(*) FROM bids WHERE item_id = ?', $item);
    }

    /**
     * The greatest bids on an item of which there are several.
     *
     * @return list<array{bid: string, qty: int}>
     */
    public static function best(Statements $sql, int $item, int $quantity): array
    {
        return $sql->rows(
            'SELECT bid, qty FROM bids WHERE item_id = ? ORDER BY bid DESC LIMIT ?',
            $item,
            $quantity,
        );
    }

    /**
     * The bids on an item with their bidders, the newest first. The published pages ask for every
     * bidder by itself.
     *
     * @return list<array<string, mixed>>
     */
    public static function history(Statements $sql, Settings $settings, int $item): array
    {
        if (!$settings->published) {
            return $sql->rows(
                'SELECT b.user_id, b.bid, b.date, u.nickname FROM bids b JOIN users u ON u.id = b.user_id'
                . ' WHERE b.item_id = ? ORDER BY b.date DESC, b.id DESC LIMIT ?',
                $item,
                self::LISTED,
            );
        }
        $bids = $sql->rows('SELECT user_id, bid, date FROM bids WHERE item_id = ? ORDER BY date DESC', $item);
        foreach ($bids as &$bid) {
            $bid['nickname'] = Users::nickname($sql, (int) $bid['user_id']);
        }
        return $bids;
    }

    public static function insert(
        Statements $sql,
        int $user,
        int $item,
        int $quantity,
        string $bid,
        string $most,
        string $now,
    ): void {
        $sql->change(
            'INSERT INTO bids (user_id, item_id, qty, bid, max_bid, date) VALUES (?, ?, ?, ?, ?, ?)',
            $user,
            $item,
            $quantity,
            $bid,
            $most,
            $now,
        );
    }
}
