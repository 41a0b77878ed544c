<?php

declare(strict_types=1);

namespace Tierlab\Rubis;

/** What a user has to do with some items; the seller is named where it is somebody else. */
final class UserItemList
{
    /** @param list<array<string, mixed>> $items */
    public static function show(string $title, string $figure, array $items, bool $biddable = false): string
    {
        $heading = Html::markup("<h2>%s</h2>\n", $title);
        if ($items === []) {
            return "$heading<p>None.</p>\n";
        }
        $list = "<ul>\n";
        foreach ($items as $item) {
            $parameters = ['itemId' => (int) $item['id']];
            $list .= '<li>' . Html::link('ViewItem', $parameters, Html::escape($item['name']))
                . Html::markup(', %s %s, ends %s', $figure, $item['price'], $item['end_date'])
                . self::seller($item)
                . ($biddable ? ', ' . Html::link('PutBidAuth', $parameters, 'bid more') : '') . "</li>\n";
        }
        return "$heading$list</ul>\n";
    }

    /** @param array<string, mixed> $item */
    private static function seller(array $item): string
    {
        return isset($item['nickname'])
            ? ', of ' . Html::link('ViewUserInfo', ['userId' => (int) $item['seller']], Html::escape($item['nickname']))
            : '';
    }
}
