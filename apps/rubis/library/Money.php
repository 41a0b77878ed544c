<?php

declare(strict_types=1);

namespace Tierlab\Rubis;

/** Amounts of money: whole cents in the program, decimals of two places outside. */
final class Money
{
    public static function cents(string $amount): int
    {
        [$units, $cents] = [...explode('.', $amount), ''];
        return 100 * (int) $units + (int) str_pad($cents, 2, '0');
    }

    public static function text(int $cents): string
    {
        return sprintf('%d.%02d', intdiv($cents, 100), $cents % 100);
    }
}
