<?php

declare(strict_types=1);

namespace Tierlab\Rubis\Data;

use Tierlab\Rubis\Statements;

/** What was bought at once. */
final class Purchases
{
    public static function insert(Statements $sql, int $buyer, int $item, int $quantity, string $now): void
    {
        $sql->change(
            'INSERT INTO buy_now (buyer_id, item_id, qty, date) VALUES (?, ?, ?, ?)',
            $buyer,
            $item,
            $quantity,
            $now,
        );
    }
}
