<?php

declare(strict_types=1);

namespace Tierlab\Olio;

use PDOException;
use RuntimeException;
use Throwable;

/**
 * What answers a request. It is made whole before its first byte goes out, so that a failure leaves
 * no half page.
 */
final class Page
{
    /**
     * Sends the page that `$content` makes of the request, in the site's layout; it throws Sorry
     * where there is none.
     *
     * @param callable(Exchange): string $content
     */
    public static function answer(string $title, callable $content): void
    {
        self::send($title, static fn(Exchange $exchange): string =>
            Layout::page($title, $content($exchange), $exchange->session->user()));
    }

    /**
     * Sends what `$page` makes as it is: a page with a layout of its own, or a part of one.
     *
     * @param callable(Exchange): string $page
     */
    public static function send(string $title, callable $page): void
    {
        $made = self::made($title, $page);
        header('Content-Type: text/html; charset=utf-8');
        header('Cache-Control: no-store');
        header('Content-Length: ' . strlen($made));
        echo $made;
    }

    /**
     * Does the work, and sends the visitor on to the page whose address it returns.
     *
     * @param callable(Exchange): string $work
     */
    public static function redirect(string $title, callable $work): void
    {
        self::send($title, static function (Exchange $exchange) use ($work): string {
            header('Location: ' . $work($exchange), true, 303);
            return '';
        });
    }

    /** @param callable(Exchange): string $page */
    private static function made(string $title, callable $page): string
    {
        $requestId = RequestId::ofRequest();
        $exchange = null;
        try {
            $exchange = new Exchange(Settings::ofServer(), new Parameters(), Session::begin(), $requestId);
            return $page($exchange);
        } catch (Sorry $sorry) {
            return self::sorry($title, $sorry, $exchange);
        } catch (BadParameter $bad) {
            http_response_code(400);
            return self::sorry($title, $bad, $exchange);
        } catch (Throwable $failure) {
            // One line: an overloaded database fails many requests a second.
            $where = $failure instanceof PDOException ? '' : " ({$failure->getFile()}:{$failure->getLine()})";
            error_log("Olio: $title failed, request id \"$requestId\": {$failure->getMessage()}$where");
            http_response_code(500);
            return Layout::page($title, "<p>ERROR: the page could not be made.</p>\n", null);
        }
    }

    private static function sorry(string $title, RuntimeException $why, ?Exchange $exchange): string
    {
        $content = Html::markup("<p>Sorry, %s</p>\n", $why->getMessage());
        return Layout::page($title, $content, $exchange?->session->user());
    }
}
