<?php

declare(strict_types=1);

namespace Tierlab\Rubis\Data;

use Tierlab\Rubis\Settings;
use Tierlab\Rubis\Statements;

/**
 * What one user has to do with items: lists of item, seller, price and end, for its own page. The
 * published page asks for the item and for the seller of each row by themselves; it lists all.
 */
final class UserItems
{
    private const LISTED = 25;

    public function __construct(
        private readonly Statements $sql,
        private readonly Settings $settings,
        private readonly int $user,
    ) {
    }

    /** @return list<array<string, mixed>> The items for sale that the user bids on, and its greatest bids. */
    public function bidOn(string $now): array
    {
        return $this->listed(
            'items',
            'SELECT b.item_id AS id, MAX(b.bid) AS price FROM bids b JOIN items i ON i.id = b.item_id'
            . ' WHERE b.user_id = ? AND i.end_date >= ? GROUP BY b.item_id',
            $now,
        );
    }

    /** @return list<array<string, mixed>> The items that the user's bid won since then. */
    public function won(string $since): array
    {
        return $this->listed(
            'old_items',
            'SELECT b.item_id AS id, MAX(b.bid) AS price FROM bids b JOIN old_items i ON i.id = b.item_id'
            . ' WHERE b.user_id = ? AND i.end_date >= ? AND b.bid = i.max_bid GROUP BY b.item_id',
            $since,
        );
    }

    /** @return list<array<string, mixed>> The items that the user bought at once since then. */
    public function bought(string $since): array
    {
        $bought = 'SELECT item_id AS id, qty AS price FROM buy_now WHERE buyer_id = ? AND date >= ?';
        if ($this->settings->published) {
            return $this->oneByOne($this->sql->rows($bought, $this->user, $since));
        }
        return array_merge($this->joined('items', $bought, $since), $this->joined('old_items', $bought, $since));
    }

    /** @return list<array<string, mixed>> What the user sells at present. */
    public function selling(string $now): array
    {
        return $this->own('items', $now);
    }

    /** @return list<array<string, mixed>> What the user has sold since then. */
    public function sold(string $since): array
    {
        return $this->own('old_items', $since);
    }

    /** @return list<array<string, mixed>> */
    private function own(string $table, string $moment): array
    {
        return $this->sql->rows(
            "SELECT id, name, end_date, max_bid AS price FROM $table WHERE seller = ? AND end_date >= ?"
            . $this->order('end_date, id'),
            $this->user,
            $moment,
        );
    }

    /** @return list<array<string, mixed>> */
    private function listed(string $table, string $found, string $moment): array
    {
        return $this->settings->published
            ? $this->oneByOne($this->sql->rows($found, $this->user, $moment))
            : $this->joined($table, $found, $moment);
    }

    /** @return list<array<string, mixed>> */
    private function joined(string $table, string $found, string $moment): array
    {
        return $this->sql->rows(
            'SELECT f.id, f.price, i.name, i.end_date, i.seller, u.nickname'
            . " FROM ($found) f JOIN $table i ON i.id = f.id JOIN users u ON u.id = i.seller"
            . $this->order('i.end_date, i.id'),
            $this->user,
            $moment,
        );
    }

    /**
     * @param list<array<string, mixed>> $found
     * @return list<array<string, mixed>>
     */
    private function oneByOne(array $found): array
    {
        foreach ($found as &$row) {
            $item = Items::any($this->sql, (int) $row['id']);
            $row += $item + ['nickname' => Users::nickname($this->sql, (int) $item['seller'])];
        }
        return $found;
    }

    private function order(string $columns): string
    {
        return $this->settings->published ? '' : " ORDER BY $columns LIMIT " . self::LISTED;
    }
}
