<?php

declare(strict_types=1);

namespace Tierlab\Olio;

/** A place on the earth, in degrees, as decimal numbers. */
final readonly class Coordinates
{
    public function __construct(public string $latitude, public string $longitude)
    {
    }
}
