<?php

declare(strict_types=1);

namespace Tierlab\Rubis\Data;

use Tierlab\Rubis\Settings;
use Tierlab\Rubis\Slice;
use Tierlab\Rubis\Sorry;
use Tierlab\Rubis\Statements;

/** The items, those for sale and the old ones, which share their ids. */
final class Items
{
    private const COLUMNS = 'id, name, description, initial_price, quantity, reserve_price, buy_now,'
        . ' nb_of_bids, max_bid, start_date, end_date, seller, category';
    private const LISTED = 'i.id, i.name, i.initial_price, i.max_bid, i.nb_of_bids, i.end_date';

    /**
     * The category's items for sale; those that end first come first, in no order as published.
     *
     * @return list<array<string, mixed>>
     */
    public static function ofCategory(
        Statements $sql,
        Settings $settings,
        int $category,
        string $now,
        Slice $slice,
    ): array {
        return $sql->rows(
            'SELECT ' . self::LISTED . ' FROM items i WHERE i.category = ? AND i.end_date >= ?'
            . self::order($settings) . ' LIMIT ? OFFSET ?',
            $category,
            $now,
            $slice->rows,
            $slice->offset(),
        );
    }

    /**
     * The same of the sellers in one region.
     *
     * @return list<array<string, mixed>>
     */
    public static function ofRegion(
        Statements $sql,
        Settings $settings,
        int $category,
        int $region,
        string $now,
        Slice $slice,
    ): array {
        return $sql->rows(
            'SELECT ' . self::LISTED . ' FROM items i JOIN users u ON u.id = i.seller'
            . ' WHERE i.category = ? AND u.region = ? AND i.end_date >= ?'
            . self::order($settings) . ' LIMIT ? OFFSET ?',
            $category,
            $region,
            $now,
            $slice->rows,
            $slice->offset(),
        );
    }

    /** @return array<string, mixed> The item, be it for sale or old. */
    public static function any(Statements $sql, int $id): array
    {
        return self::find($sql, 'items', $id)
            ?? self::find($sql, 'old_items', $id)
            ?? throw self::missing();
    }

    /** @return array<string, mixed> The item for sale. */
    public static function forSale(Statements $sql, int $id): array
    {
        return self::find($sql, 'items', $id) ?? throw self::missing();
    }

    /** @return array<string, mixed> The item for sale, locked until the transaction ends. */
    public static function locked(Statements $sql, int $id): array
    {
        return $sql->row('SELECT id, quantity, end_date FROM items WHERE id = ? FOR UPDATE', $id)
            ?? throw self::missing();
    }

    public static function name(Statements $sql, int $id): string
    {
        return (string) ($sql->value('SELECT name FROM items WHERE id = ?', $id)
            ?? $sql->value('SELECT name FROM old_items WHERE id = ?', $id)
            ?? throw self::missing());
    }

    public static function countBid(Statements $sql, int $id, string $bid): void
    {
        $sql->change(
            'UPDATE items SET max_bid = GREATEST(max_bid, CAST(? AS DECIMAL(12, 2))),'
            . ' nb_of_bids = nb_of_bids + 1 WHERE id = ?',
            $bid,
            $id,
        );
    }

    /** Leaves so many of the item; its auction ends with the last. */
    public static function keep(Statements $sql, int $id, int $quantity, string $end): void
    {
        $sql->change('UPDATE items SET quantity = ?, end_date = ? WHERE id = ?', $quantity, $end, $id);
    }

    public static function insert(
        Statements $sql,
        string $name,
        string $description,
        string $initialPrice,
        string $reservePrice,
        string $buyNow,
        int $quantity,
        string $start,
        string $end,
        int $seller,
        int $category,
    ): void {
        $sql->change(
            'INSERT INTO items (name, description, initial_price, quantity, reserve_price, buy_now,'
            . ' nb_of_bids, max_bid, start_date, end_date, seller, category)'
            . ' VALUES (?, ?, ?, ?, ?, ?, 0, 0, ?, ?, ?, ?)',
            $name,
            $description,
            $initialPrice,
            $quantity,
            $reservePrice,
            $buyNow,
            $start,
            $end,
            $seller,
            $category,
        );
    }

    private static function order(Settings $settings): string
    {
        return $settings->published ? '' : ' ORDER BY i.end_date, i.id';
    }

    /** @return ?array<string, mixed> */
    private static function find(Statements $sql, string $table, int $id): ?array
    {
        return $sql->row('SELECT ' . self::COLUMNS . " FROM $table WHERE id = ?", $id);
    }

    private static function missing(): Sorry
    {
        return new Sorry('that item does not exist, or it is not for sale.');
    }
}
