<?php

declare(strict_types=1);

namespace Tierlab\Olio;

use Tierlab\Olio\Data\Events;

/** The next events, and the cloud of tags. */
final class HomePage
{
    private const TITLE = 'Upcoming events';

    /**
     * The first page of all events is kept: whole for who has not logged in, else its content. Any
     * other is made anew.
     */
    public static function show(Exchange $exchange): string
    {
        $user = $exchange->session->user();
        if (self::isSelection($exchange->parameters)) {
            return Layout::page(self::TITLE, self::selection($exchange), $user);
        }
        $content = static fn(): string => $exchange->cache()->kept('HomeContent', static fn(): string => self::made(
            $exchange,
            Events::upcoming($exchange, Paging::asked($exchange->parameters)),
            Events::countUpcoming($exchange),
            [],
        ));
        if ($user !== null) {
            return Layout::page(self::TITLE, $content(), $user);
        }
        return $exchange->cache()->kept('Home', static fn(): string => Layout::page(self::TITLE, $content(), null));
    }

    private static function isSelection(Parameters $parameters): bool
    {
        return $parameters->has('page') || $parameters->has('zipcode') || $parameters->has('year');
    }

    private static function selection(Exchange $exchange): string
    {
        $parameters = $exchange->parameters;
        $paging = Paging::asked($parameters);
        if ($parameters->has('zipcode')) {
            $zip = $parameters->text('zipcode', 12);
            $order = $parameters->optional('order', 20);
            return self::made(
                $exchange,
                Events::near($exchange, $zip, $order, $paging),
                Events::countNear($exchange, $zip),
                ['zipcode' => $zip, 'order' => $order],
            );
        }
        if ($parameters->has('year')) {
            $day = $parameters->day();
            [$year, $month, $date] = explode('-', $day);
            return self::made(
                $exchange,
                Events::on($exchange, $day, $paging),
                Events::countOn($exchange, $day),
                ['year' => $year, 'month' => $month, 'day' => $date],
            );
        }
        return self::made($exchange, Events::upcoming($exchange, $paging), Events::countUpcoming($exchange), []);
    }

    /**
     * @param list<array<string, mixed>> $events
     * @param array<string, int|string> $asked
     */
    private static function made(Exchange $exchange, array $events, int $count, array $asked): string
    {
        return EventList::show($exchange->sql(), $events)
            . Paging::asked($exchange->parameters)->links('index', $asked, $count)
            . TagCloud::ofAll($exchange->sql());
    }
}
