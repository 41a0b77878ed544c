<?php

declare(strict_types=1);

namespace Tierlab\Rubis\Data;

use Tierlab\Rubis\Sorry;
use Tierlab\Rubis\Statements;

/** The categories of items and the regions of users. */
final class Places
{
    /** @return list<array{id: int, name: string}> */
    public static function categories(Statements $sql): array
    {
        return $sql->rows('SELECT id, name FROM categories ORDER BY id');
    }

    /** @return list<array{id: int, name: string}> */
    public static function regions(Statements $sql): array
    {
        return $sql->rows('SELECT id, name FROM regions ORDER BY id');
    }

    public static function region(Statements $sql, string $name): int
    {
        $id = $sql->value('SELECT id FROM regions WHERE name = ?', $name);
        return $id === null ? throw new Sorry("there is no region $name.") : (int) $id;
    }
}
