<?php

declare(strict_types=1);

namespace Tierlab\Olio;

/** A part of a list: so many rows from a place on. */
final readonly class Slice
{
    public function __construct(public int $offset, public int $rows)
    {
    }
}
