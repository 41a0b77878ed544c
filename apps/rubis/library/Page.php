<?php

declare(strict_types=1);

namespace Tierlab\Rubis;

use PDOException;
use Throwable;

/**
 * A dynamic page. It is made whole before its first byte goes out, so that a failure leaves no
 * half page.
 */
final class Page
{
    /**
     * Sends the page that `$content` makes of the request; it throws Sorry where there is none.
     *
     * @param callable(Exchange): string $content
     */
    public static function answer(string $title, callable $content): void
    {
        $start = hrtime(true);
        $made = self::content($title, $content);
        $page = Layout::begin($title) . $made . Layout::end(hrtime(true) - $start);
        header('Content-Type: text/html; charset=utf-8');
        header('Cache-Control: no-store');
        header('Content-Length: ' . strlen($page));
        echo $page;
    }

    /** @param callable(Exchange): string $content */
    private static function content(string $title, callable $content): string
    {
        $requestId = RequestId::ofRequest();
        try {
            $exchange = new Exchange(Settings::ofServer(), new Parameters(), $requestId);
            return $content($exchange);
        } catch (Sorry $sorry) {
            return Html::markup("<p>Sorry, %s</p>\n", $sorry->getMessage());
        } catch (BadParameter $bad) {
            http_response_code(400);
            return Html::markup("<p>Sorry, %s</p>\n", $bad->getMessage());
        } catch (Throwable $failure) {
            // One line: an overloaded database fails many requests a second.
            $where = $failure instanceof PDOException ? '' : " ({$failure->getFile()}:{$failure->getLine()})";
            error_log("RUBiS: $title failed, request id \"$requestId\": {$failure->getMessage()}$where");
            http_response_code(500);
            return "<p>ERROR: the page could not be made.</p>\n";
        }
    }
}
