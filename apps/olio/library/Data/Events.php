<?php

declare(strict_types=1);

namespace Tierlab\Olio\Data;

use Tierlab\Olio\Exchange;
use Tierlab\Olio\Paging;
use Tierlab\Olio\Settings;
use Tierlab\Olio\Slice;
use Tierlab\Olio\Statements;

/** The events. Their times are texts, which sort as times do. */
final class Events
{
    private const LISTED = 'e.socialeventid, e.title, e.summary, e.imagethumburl, e.createdtimestamp, e.eventdate,'
        . ' e.submitterusername';

    /** @return list<array<string, mixed>> Ten of those to come, the next first. */
    public static function upcoming(Exchange $exchange, Paging $paging): array
    {
        return $exchange->sql()->rows(
            'SELECT ' . self::LISTED . ' FROM socialevent e WHERE ' . self::isToCome($exchange->settings)
            . ' ORDER BY e.eventdate LIMIT ? OFFSET ?',
            ...[...self::moment($exchange), Paging::ROWS, $paging->offset()],
        );
    }

    public static function countUpcoming(Exchange $exchange): int
    {
        return (int) $exchange->sql()->value(
            'SELECT COUNT(*) FROM socialevent e WHERE ' . self::isToCome($exchange->settings),
            ...self::moment($exchange),
        );
    }

    /**
     * Ten of those to come in one ZIP code's area, the next first, or the one posted last.
     *
     * @return list<array<string, mixed>>
     */
    public static function near(Exchange $exchange, string $zip, string $order, Paging $paging): array
    {
        return $exchange->sql()->rows(
            'SELECT ' . self::LISTED . ' FROM socialevent e JOIN address a ON a.addressid = e.address_addressid'
            . ' WHERE ' . self::isToCome($exchange->settings) . ' AND a.zip = ?'
            . ($order === 'created_at' ? ' ORDER BY e.createdtimestamp DESC' : ' ORDER BY e.eventdate')
            . ' LIMIT ? OFFSET ?',
            ...[...self::moment($exchange), $zip, Paging::ROWS, $paging->offset()],
        );
    }

    public static function countNear(Exchange $exchange, string $zip): int
    {
        return (int) $exchange->sql()->value(
            'SELECT COUNT(*) FROM socialevent e JOIN address a ON a.addressid = e.address_addressid'
            . ' WHERE ' . self::isToCome($exchange->settings) . ' AND a.zip = ?',
            ...[...self::moment($exchange), $zip],
        );
    }

    /** @return list<array<string, mixed>> Ten of one day's. */
    public static function on(Exchange $exchange, string $day, Paging $paging): array
    {
        return $exchange->sql()->rows(
            'SELECT ' . self::LISTED . ' FROM socialevent e WHERE e.eventdate = ?'
            . ' ORDER BY e.eventdate LIMIT ? OFFSET ?',
            $day,
            Paging::ROWS,
            $paging->offset(),
        );
    }

    public static function countOn(Exchange $exchange, string $day): int
    {
        return (int) $exchange->sql()->value('SELECT COUNT(*) FROM socialevent WHERE eventdate = ?', $day);
    }

    /** @return ?array<string, mixed> What a list shows of one event. */
    public static function listed(Statements $sql, int $id): ?array
    {
        return $sql->row('SELECT ' . self::LISTED . ' FROM socialevent e WHERE e.socialeventid = ?', $id);
    }

    /** @return ?array<string, mixed> All of one event, with its address. */
    public static function whole(Statements $sql, int $id): ?array
    {
        return $sql->row(
            'SELECT e.socialeventid, e.title, e.description, e.summary, e.submitterusername, e.imageurl,'
            . ' e.imagethumburl, e.literatureurl, e.telephone, e.timezone, e.eventtimestamp, ' . Addresses::COLUMNS
            . ' FROM socialevent e JOIN address a ON a.addressid = e.address_addressid WHERE e.socialeventid = ?',
            $id,
        );
    }

    /** @return list<array<string, mixed>> Of those to come that a person posted. */
    public static function postedBy(Exchange $exchange, string $user, Slice $slice): array
    {
        return $exchange->sql()->rows(
            'SELECT e.socialeventid, e.title FROM socialevent e'
            . ' WHERE e.submitterusername = ? AND e.createdtimestamp <= ? AND ' . self::isToCome($exchange->settings)
            . ' ORDER BY e.eventdate LIMIT ? OFFSET ?',
            ...[$user, $exchange->now(), ...self::moment($exchange), $slice->rows, $slice->offset],
        );
    }

    /** @return list<array<string, mixed>> Of those to come that a person attends. */
    public static function attendedBy(Exchange $exchange, string $user, Slice $slice): array
    {
        return $exchange->sql()->rows(
            'SELECT e.socialeventid, e.title FROM socialevent e'
            . ' JOIN person_socialevent p ON p.socialeventid = e.socialeventid'
            . ' WHERE p.username = ? AND ' . self::isToCome($exchange->settings)
            . ' ORDER BY e.eventdate LIMIT ? OFFSET ?',
            ...[$user, ...self::moment($exchange), $slice->rows, $slice->offset],
        );
    }

    /** The new row's number. */
    public static function insert(
        Statements $sql,
        string $title,
        string $description,
        string $summary,
        string $submitter,
        int $address,
        string $telephone,
        string $timezone,
        string $time,
        string $now,
    ): int {
        return $sql->insert(
            'INSERT INTO socialevent (title, description, submitterusername, address_addressid, totalscore,'
            . ' numberofvotes, imageurl, imagethumburl, literatureurl, telephone, timezone, eventtimestamp,'
            . ' createdtimestamp, disabled, eventdate, summary)'
            . " VALUES (?, ?, ?, ?, 0, 0, '', '', '', ?, ?, ?, ?, 0, ?, ?)",
            $title,
            $description,
            $submitter,
            $address,
            $telephone,
            $timezone,
            $time,
            $now,
            substr($time, 0, 10),
            $summary,
        );
    }

    public static function nameFiles(
        Statements $sql,
        int $id,
        string $image,
        string $thumbnail,
        string $literature,
    ): void {
        $sql->change(
            'UPDATE socialevent SET imageurl = ?, imagethumburl = ?, literatureurl = ? WHERE socialeventid = ?',
            $image,
            $thumbnail,
            $literature,
            $id,
        );
    }

    /** As published, each text is made a time before it is compared, which no index helps with. */
    private static function isToCome(Settings $settings): string
    {
        if (!$settings->published) {
            return 'e.eventtimestamp >= ?';
        }
        return $settings->isPostgreSQL()
            ? "CAST(e.eventtimestamp AS TIMESTAMP) >= CURRENT_TIMESTAMP AT TIME ZONE 'UTC'"
            : 'CAST(e.eventtimestamp AS DATETIME) >= UTC_TIMESTAMP()';
    }

    /** @return list<string> What that has to be told. */
    private static function moment(Exchange $exchange): array
    {
        return $exchange->settings->published ? [] : [$exchange->now()];
    }
}
