<?php

declare(strict_types=1);

namespace Tierlab\Rubis;

/** The parameters of the request, from its body or its query, read as what a page needs them to be. */
final class Parameters
{
    /** TEXT holds 65,535 bytes; a character takes up to four. */
    public const LONGEST_TEXT = 16_000;

    private const LARGEST_ID = 2_147_483_647;
    private const DEFAULT_ROWS = 25;
    private const MOST_ROWS = 100;

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
        return $this->number($name, 0, self::LARGEST_ID);
    }

    /** An amount of money, in cents. */
    public function money(string $name, ?int $otherwise = null): int
    {
        $value = $this->value($name) ?? '';
        if ($otherwise !== null && $value === '') {
            return $otherwise;
        }
        if (preg_match('/\A\d{1,9}(\.\d{1,2})?\z/', $value) !== 1) {
            throw new BadParameter($name, 'an amount such as 12.50');
        }
        return Money::cents($value);
    }

    /** A text that must be there, not blank, and fit its column. */
    public function text(string $name, int $longest): string
    {
        $value = $this->value($name) ?? '';
        // The pattern fails on what is not UTF-8, too.
        if (trim($value) === '' || str_contains($value, "\0") || preg_match("/\\A.{1,$longest}\\z/us", $value) !== 1) {
            throw new BadParameter($name, "a text of 1 to $longest characters");
        }
        return $value;
    }

    /**
     * A whole number that is one of these.
     *
     * @param list<int> $choices
     */
    public function choice(string $name, array $choices): int
    {
        $value = $this->value($name);
        foreach ($choices as $choice) {
            if ($value === (string) $choice) {
                return $choice;
            }
        }
        throw new BadParameter($name, 'one of ' . implode(', ', $choices));
    }

    /** Which part of a list is asked for. */
    public function slice(): Slice
    {
        return new Slice(
            $this->number('page', 0, 1_000_000, 0),
            $this->number('nbOfItems', 1, self::MOST_ROWS, self::DEFAULT_ROWS),
        );
    }

    private function value(string $name): ?string
    {
        $value = $_POST[$name] ?? $_GET[$name] ?? null;
        return is_string($value) ? $value : null;
    }
}
