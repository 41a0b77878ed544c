<?php

declare(strict_types=1);

namespace Tierlab\Olio\Data;

use Tierlab\Olio\Statements;

/** The words that events are found by, each with how many events have it. */
final class Tags
{
    private const SHOWN = 50;

    /** @return list<array<string, mixed>> Those of most events, in the alphabet's order. */
    public static function mostUsed(Statements $sql): array
    {
        $tags = $sql->rows('SELECT tag, refcount FROM socialeventtag ORDER BY refcount DESC LIMIT ?', self::SHOWN);
        usort($tags, static fn(array $one, array $other): int => strcmp((string) $one['tag'], (string) $other['tag']));
        return $tags;
    }

    /** @return list<array<string, mixed>> Those of one event, in the alphabet's order. */
    public static function ofEvent(Statements $sql, int $event): array
    {
        return $sql->rows(
            'SELECT t.tag, t.refcount FROM socialeventtag t JOIN socialeventtag_socialevent l'
            . ' ON l.socialeventtagid = t.socialeventtagid WHERE l.socialeventid = ? ORDER BY t.tag',
            $event,
        );
    }

    /** How many events have the tag. */
    public static function count(Statements $sql, string $tag): int
    {
        return (int) $sql->value('SELECT refcount FROM socialeventtag WHERE tag = ?', $tag);
    }

    /** @return list<int> Of the events with the tag, ten, in no order. */
    public static function events(Statements $sql, string $tag, int $rows, int $offset): array
    {
        $found = $sql->rows(
            'SELECT l.socialeventid FROM socialeventtag_socialevent l WHERE l.socialeventtagid ='
            . ' (SELECT t.socialeventtagid FROM socialeventtag t WHERE t.tag = ?) LIMIT ? OFFSET ?',
            $tag,
            $rows,
            $offset,
        );
        return array_map(intval(...), array_column($found, 'socialeventid'));
    }

    /** Gives a new event a tag, which may be new as well: within a transaction. */
    public static function add(Statements $sql, string $tag, int $event): void
    {
        if ($sql->change('UPDATE socialeventtag SET refcount = refcount + 1 WHERE tag = ?', $tag) === 0) {
            $id = $sql->insert('INSERT INTO socialeventtag (tag, refcount) VALUES (?, 1)', $tag);
        } else {
            $id = (int) $sql->value('SELECT socialeventtagid FROM socialeventtag WHERE tag = ?', $tag);
        }
        $sql->change(
            'INSERT INTO socialeventtag_socialevent (socialeventtagid, socialeventid) VALUES (?, ?)',
            $id,
            $event,
        );
    }
}
