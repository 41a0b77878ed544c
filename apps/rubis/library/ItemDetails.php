<?php

declare(strict_types=1);

namespace Tierlab\Rubis;

use Tierlab\Rubis\Data\Bids;
use Tierlab\Rubis\Data\Users;

/** One item with its price, its bids and its seller. */
final readonly class ItemDetails
{
    /** @param array<string, mixed> $item */
    private function __construct(
        private array $item,
        private ?string $greatest,
        private int $bids,
        private string $seller,
        /** What the item costs now, in cents. */
        public int $price,
    ) {
    }

    /** @param array<string, mixed> $item */
    public static function of(Statements $sql, array $item): self
    {
        $id = (int) $item['id'];
        $greatest = Bids::greatest($sql, $id);
        $price = Money::cents((string) ($greatest ?? $item['initial_price']));
        if ($greatest !== null && (int) $item['quantity'] > 1) {
            $price = self::leastToGet(Bids::best($sql, $id, (int) $item['quantity']), (int) $item['quantity'])
                ?? Money::cents((string) $item['initial_price']);
        }
        $bids = Bids::count($sql, $id);
        return new self($item, $greatest, $bids, Users::nickname($sql, (int) $item['seller']), $price);
    }

    public function show(string $now): string
    {
        $item = $this->item;
        $parameters = ['itemId' => (int) $item['id']];
        $isOpen = $item['end_date'] >= $now && (int) $item['quantity'] > 0;
        $history = Html::link('ViewBidHistory', $parameters, Html::markup('%s bids', $this->bids));
        $seller = Html::link('ViewUserInfo', ['userId' => (int) $item['seller']], Html::escape($this->seller));
        $comment = Html::link(
            'PutCommentAuth',
            ['to' => (int) $item['seller']] + $parameters,
            'Leave a comment on this user',
        );
        return Html::markup("<h2>%s</h2>\n", $item['name'])
            . ($isOpen ? $this->offers($parameters) : "<p>The auction is over.</p>\n")
            . "<ul>\n"
            . Html::markup("<li>Price now: %s</li>\n", Money::text($this->price))
            . Html::markup("<li>First bid at: %s</li>\n", $item['initial_price'])
            . Html::markup("<li>Greatest bid: %s</li>\n", $this->greatest ?? 'none')
            . Html::markup("<li>Reserve: %s</li>\n", $this->reserve())
            . "<li>$history</li>\n<li>Seller: $seller ($comment)</li>\n"
            . Html::markup("<li>Quantity: %s</li>\n", $item['quantity'])
            . Html::markup("<li>Begun: %s</li>\n<li>Ends: %s</li>\n", $item['start_date'], $item['end_date'])
            . Html::markup("</ul>\n<p>%s</p>\n", $item['description']);
    }

    /** @param array<string, int> $parameters */
    private function offers(array $parameters): string
    {
        $image = Html::image('bid_now.png', 'Bid now', 60, 20);
        $offers = Html::link('PutBidAuth', $parameters, $image) . "\n";
        if (Money::cents((string) $this->item['buy_now']) > 0) {
            $image = Html::image('buy_now.png', 'Buy now', 60, 20);
            $offers .= Html::link('BuyNowAuth', $parameters, $image)
                . Html::markup(" for %s\n", $this->item['buy_now']);
        }
        return "<p>\n$offers</p>\n";
    }

    private function reserve(): string
    {
        $reserve = Money::cents((string) $this->item['reserve_price']);
        if ($reserve === 0) {
            return 'none';
        }
        return $this->price >= $reserve ? 'met' : 'not met';
    }

    /**
     * The least of the bids that get a share of the quantity, in cents; null if all of them do and
     * something is left.
     *
     * @param list<array{bid: string, qty: int}> $best
     */
    private static function leastToGet(array $best, int $quantity): ?int
    {
        foreach ($best as $bid) {
            $quantity -= (int) $bid['qty'];
            if ($quantity <= 0) {
                return Money::cents((string) $bid['bid']);
            }
        }
        return null;
    }
}
