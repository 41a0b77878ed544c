<?php

declare(strict_types=1);

namespace Tierlab\Rubis;

/** A page of a list: so many rows, after those of the pages before. */
final readonly class Slice
{
    public function __construct(public int $page, public int $rows)
    {
    }

    public function offset(): int
    {
        return $this->page * $this->rows;
    }
}
