<?php

declare(strict_types=1);

namespace Tierlab\Olio;

/** The id that a request carries through all tiers. */
final class RequestId
{
    /** The header X-Request-Id if it is hexadecimal, so that it is harmless inside an SQL comment; else "". */
    public static function ofRequest(): string
    {
        $header = $_SERVER['HTTP_X_REQUEST_ID'] ?? '';
        return preg_match('/\A[0-9a-fA-F]{1,32}\z/', $header) === 1 ? $header : '';
    }
}
