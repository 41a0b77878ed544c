<?php

declare(strict_types=1);

namespace Tierlab\Olio;

/** A page of a list of events: ten of them, and the links to the pages before and after. */
final readonly class Paging
{
    public const ROWS = 10;
    private const LAST = 1_000_000;

    private function __construct(private int $page)
    {
    }

    /** The page that a request asks for, the first by default. */
    public static function asked(Parameters $parameters): self
    {
        return new self($parameters->number('page', 1, self::LAST, 1));
    }

    public function offset(): int
    {
        return ($this->page - 1) * self::ROWS;
    }

    /**
     * Links to the neighbouring pages of a list with so many rows.
     *
     * @param array<string, int|string> $asked
     */
    public function links(string $page, array $asked, int $rows): string
    {
        $pages = max(1, intdiv($rows + self::ROWS - 1, self::ROWS));
        $links = '';
        if ($this->page > 1) {
            $links .= Html::link($page, $asked + ['page' => min($this->page - 1, $pages)], 'Previous') . "\n";
        }
        if ($this->page < $pages) {
            $links .= Html::link($page, $asked + ['page' => $this->page + 1], 'Next') . "\n";
        }
        return Html::markup("<p>Page %s of %s\n", $this->page, $pages) . "$links</p>\n";
    }
}
