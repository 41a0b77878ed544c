<?php

declare(strict_types=1);

namespace Tierlab\Olio;

/** Where somebody lives, or an event is held. */
final readonly class Address
{
    private function __construct(
        public string $street1,
        public string $street2,
        public string $city,
        public string $state,
        public string $zip,
        public string $country,
    ) {
    }

    public static function ofForm(Parameters $parameters): self
    {
        return new self(
            $parameters->text('street1', 55),
            $parameters->optional('street2', 55),
            $parameters->text('city', 55),
            $parameters->optional('state', 25),
            $parameters->text('zip', 12),
            $parameters->text('country', 55),
        );
    }

    /** The fields of a form. */
    public static function fields(): string
    {
        return Html::field('Street', 'street1') . Html::field('Street, continued', 'street2')
            . Html::field('City', 'city') . Html::field('State', 'state')
            . Html::field('ZIP code', 'zip') . Html::field('Country', 'country');
    }

    /** @param array<string, mixed> $row */
    public static function show(array $row): string
    {
        $lines = ['street1', 'street2', 'city', 'state', 'zip', 'country'];
        $values = array_map(static fn(string $name): string => (string) $row[$name], $lines);
        return Html::markup("<address>%s %s<br>\n%s, %s %s<br>\n%s</address>\n", ...$values);
    }
}
