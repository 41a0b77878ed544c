<?php

declare(strict_types=1);

namespace Tierlab\Olio;

use RuntimeException;

/**
 * Pictures and documents by name, in 1000 folders of 1000 folders, so that none grows long.
 *
 * What belongs to generated rows is not there a thousand times over: all such pictures of one sort
 * are one file, in the folder `seed`.
 */
final readonly class FileStore
{
    private const FOLDERS = 1_000;
    private const NAME = '/\A(?<sort>[pe])\d{1,10}(?<form>|t|l)\.(?<type>jpg|png|pdf)\z/';
    private const TYPES = ['jpg' => 'image/jpeg', 'png' => 'image/png', 'pdf' => 'application/pdf'];
    private const SEEDS = [
        'p.jpg' => 'person.jpg',
        'pt.jpg' => 'person_thumb.jpg',
        'e.jpg' => 'event.jpg',
        'et.jpg' => 'event_thumb.jpg',
        'el.pdf' => 'event.pdf',
    ];

    public function __construct(private string $root)
    {
    }

    /** The path of a file that is there; null where none has the name. */
    public function find(string $name): ?string
    {
        if (preg_match(self::NAME, $name, $parts) !== 1) {
            return null;
        }
        $path = $this->path($name);
        if (is_file($path)) {
            return $path;
        }
        $seed = self::SEEDS["{$parts['sort']}{$parts['form']}.{$parts['type']}"] ?? null;
        return $seed === null || !is_file("$this->root/seed/$seed") ? null : "$this->root/seed/$seed";
    }

    /** What a file of this name is, as a media type. */
    public static function type(string $name): string
    {
        return self::TYPES[pathinfo($name, PATHINFO_EXTENSION)] ?? 'application/octet-stream';
    }

    /** Copies a file into the store: whole, or not at all. */
    public function keep(string $name, string $file): void
    {
        $path = $this->path($name);
        $folder = dirname($path);
        if (!is_dir($folder) && !@mkdir($folder, 0o755, true) && !is_dir($folder)) {
            throw new RuntimeException("cannot make the folder $folder");
        }
        if (!copy($file, "$path.part") || !rename("$path.part", $path)) {
            throw new RuntimeException("cannot store $path");
        }
    }

    private function path(string $name): string
    {
        $hash = crc32($name);
        $outer = $hash % self::FOLDERS;
        $inner = intdiv($hash, self::FOLDERS) % self::FOLDERS;
        return sprintf('%s/%03d/%03d/%s', $this->root, $outer, $inner, $name);
    }
}
