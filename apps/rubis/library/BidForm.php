<?php

declare(strict_types=1);

namespace Tierlab\Rubis;

/** The form for a bid, which suggests some. */
final class BidForm
{
    private const SUGGESTIONS = 10;

    /** @param array<string, mixed> $item */
    public static function show(int $user, array $item, int $price): string
    {
        $least = $price + 100;
        $suggested = '';
        for ($more = 1; $more <= self::SUGGESTIONS; $more++) {
            $suggested .= Html::markup("<option value=\"%s\"></option>\n", Money::text($least + 100 * $more));
        }
        $fields = Html::markup(
            "<p><label>Your bid <input name=\"bid\" value=\"%s\" list=\"bids\"></label></p>\n",
            Money::text($least),
        )
            . "<datalist id=\"bids\">\n$suggested</datalist>\n"
            . Html::field('The most that you would give, if more', 'maxBid')
            . Html::field('Quantity', 'qty', 'number', '1');
        $hidden = [
            'minBid' => Money::text($least),
            'userId' => $user,
            'itemId' => (int) $item['id'],
            'maxQty' => (int) $item['quantity'],
        ];
        return Html::form('StoreBid', $hidden, $fields, 'Bid');
    }
}
