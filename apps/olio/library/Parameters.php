<?php

declare(strict_types=1);

namespace Tierlab\Olio;

/** The parameters of the request, from its body or its query, read as what a page needs them to be. */
final class Parameters
{
    private const LARGEST_ID = 2_147_483_647;

    public function has(string $name): bool
    {
        return $this->value($name) !== null;
    }

    public function number(string $name, int $least, int $most, ?int $otherwise = null): int
    {
        if ($otherwise !== null && !$this->has($name)) {
            return $otherwise;
        }
        $value = $this->value($name) ?? '';
        if (preg_match('/\A\d{1,10}\z/', $value) === 1 && (int) $value >= $least && (int) $value <= $most) {
            return (int) $value;
        }
        throw new BadParameter($name, "a whole number from $least to $most");
    }

    public function id(string $name): int
    {
        return $this->number($name, 1, self::LARGEST_ID);
    }

    /** A text that must be there, not blank, and fit its column. */
    public function text(string $name, int $longest): string
    {
        $value = $this->optional($name, $longest);
        if (trim($value) === '') {
            throw new BadParameter($name, "a text of 1 to $longest characters");
        }
        return $value;
    }

    /** A text that fits its column; empty where there is none. */
    public function optional(string $name, int $longest): string
    {
        $value = $this->value($name) ?? '';
        // The pattern fails on what is not UTF-8, too.
        if (str_contains($value, "\0") || preg_match("/\\A.{0,$longest}\\z/us", $value) !== 1) {
            throw new BadParameter($name, "a text of at most $longest characters");
        }
        return $value;
    }

    /** A day, from the fields year, month and day. */
    public function day(): string
    {
        $year = $this->number('year', 1970, 9999);
        $month = $this->number('month', 1, 12);
        $day = $this->number('day', 1, 31);
        if (!checkdate($month, $day, $year)) {
            throw new BadParameter('day', 'a day of that month');
        }
        return sprintf('%04d-%02d-%02d', $year, $month, $day);
    }

    private function value(string $name): ?string
    {
        $value = $_POST[$name] ?? $_GET[$name] ?? null;
        return is_string($value) ? $value : null;
    }
}
