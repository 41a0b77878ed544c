<?php

declare(strict_types=1);

namespace Tierlab\Olio;

use RuntimeException;

/** A parameter is missing or not what the page needs. */
final class BadParameter extends RuntimeException
{
    public function __construct(string $name, string $wanted)
    {
        parent::__construct("the parameter $name must be $wanted.");
    }
}
