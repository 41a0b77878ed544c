<?php

declare(strict_types=1);

namespace Tierlab\Olio\Data;

use Tierlab\Olio\Address;
use Tierlab\Olio\Coordinates;
use Tierlab\Olio\Statements;

/** Where people live and events are held. */
final class Addresses
{
    public const COLUMNS = 'a.street1, a.street2, a.city, a.state, a.zip, a.country, a.latitude, a.longitude';

    /** The new row's number. */
    public static function insert(Statements $sql, Address $address, Coordinates $place): int
    {
        return $sql->insert(
            'INSERT INTO address (street1, street2, city, state, zip, country, latitude, longitude)'
            . ' VALUES (?, ?, ?, ?, ?, ?, CAST(? AS DECIMAL(14, 10)), CAST(? AS DECIMAL(14, 10)))',
            $address->street1,
            $address->street2,
            $address->city,
            $address->state,
            $address->zip,
            $address->country,
            $place->latitude,
            $place->longitude,
        );
    }
}
