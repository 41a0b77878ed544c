<?php

declare(strict_types=1);

namespace Tierlab\Olio;

use Tierlab\Olio\Data\Tags;

/** Tags, in the alphabet's order, the larger the more events have them. */
final class TagCloud
{
    private const SIZES = 6;

    /** The tags of most events, and the form to search for any. */
    public static function ofAll(Statements $sql): string
    {
        return "<section class=\"cloud\">\n<h2>Tags</h2>\n" . self::show(Tags::mostUsed($sql))
            . Html::form('taggedEvents', Html::field('Tag', 'tag'), 'tagsearchsubmit', 'Search Tags') . "</section>\n";
    }

    /** @param list<array<string, mixed>> $tags */
    public static function show(array $tags): string
    {
        $most = max([1, ...array_map(static fn(array $tag): int => (int) $tag['refcount'], $tags)]);
        $cloud = '';
        foreach ($tags as $tag) {
            $count = (int) $tag['refcount'];
            $size = 1 + intdiv((self::SIZES - 1) * $count, $most);
            $name = (string) $tag['tag'];
            $link = Html::link('taggedEvents', ['tag' => $name, 'count' => $count], $name);
            $cloud .= Html::markup('<span class="size%s">', $size) . "$link</span>\n";
        }
        return "<p>\n$cloud</p>\n";
    }
}
