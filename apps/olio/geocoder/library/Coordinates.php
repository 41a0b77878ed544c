<?php

declare(strict_types=1);

namespace Tierlab\Geocoder;

/** Where an address is: the same place for the same address, nowhere in particular. */
final class Coordinates
{
    /** @return array{string, string} Latitude and longitude, in degrees. */
    public static function of(string $address): array
    {
        $hash = crc32(strtolower($address));
        // Between the polar circles; 65,521 is the greatest prime of 16 bits.
        $latitude = ($hash % 65_521) / 65_521 * 132 - 66;
        $longitude = intdiv($hash, 65_521) / 65_552 * 360 - 180;
        return [sprintf('%.6F', $latitude), sprintf('%.6F', $longitude)];
    }
}
