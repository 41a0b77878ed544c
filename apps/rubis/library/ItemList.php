<?php

declare(strict_types=1);

namespace Tierlab\Rubis;

/** A list of items for sale, with links to the pages of the list before and after. */
final class ItemList
{
    /**
     * @param list<array<string, mixed>> $items
     * @param array<string, int|string> $parameters What the list was asked for by, but for the slice.
     */
    public static function show(
        array $items,
        Slice $slice,
        Settings $settings,
        string $page,
        array $parameters,
    ): string {
        if ($items === [] && $settings->published) {
            throw new Sorry('nothing is for sale there.');
        }
        return ($items === [] ? "<p>Nothing more is for sale here.</p>\n" : self::table($items))
            . self::paging($slice, count($items) === $slice->rows, $page, $parameters);
    }

    /** @param list<array<string, mixed>> $items */
    private static function table(array $items): string
    {
        $table = "<table>\n<tr><th>Item</th><th>Price</th><th>Bids</th><th>Ends</th><th>Bid</th></tr>\n";
        foreach ($items as $item) {
            $parameters = ['itemId' => (int) $item['id']];
            $table .= '<tr><td>' . Html::link('ViewItem', $parameters, Html::escape($item['name'])) . '</td>'
                . Html::markup(
                    '<td>%s</td><td>%s</td><td>%s</td>',
                    (int) $item['nb_of_bids'] > 0 ? $item['max_bid'] : $item['initial_price'],
                    $item['nb_of_bids'],
                    $item['end_date'],
                )
                . '<td>' . Html::link('PutBidAuth', $parameters, Html::image('bid_now.png', 'Bid now', 60, 20))
                . "</td></tr>\n";
        }
        return "$table</table>\n";
    }

    /** @param array<string, int|string> $parameters */
    private static function paging(Slice $slice, bool $isFull, string $page, array $parameters): string
    {
        $links = '';
        $turn = static fn (int $to, string $label): string => Html::link(
            $page,
            $parameters + ['page' => $to, 'nbOfItems' => $slice->rows],
            $label,
        ) . "\n";
        if ($slice->page > 0) {
            $links .= $turn($slice->page - 1, 'Previous page');
        }
        if ($isFull) {
            $links .= $turn($slice->page + 1, 'Next page');
        }
        return $links === '' ? '' : "<p>\n$links</p>\n";
    }
}
