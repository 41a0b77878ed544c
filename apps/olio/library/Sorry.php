<?php

declare(strict_types=1);

namespace Tierlab\Olio;

use RuntimeException;

/** The page has nothing to show; the message follows the word "Sorry". */
final class Sorry extends RuntimeException
{
}
