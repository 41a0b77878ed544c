<?php

declare(strict_types=1);

namespace Tierlab\Rubis;

/** What every page has: the header with its links and logo, and the footer. */
final class Layout
{
    /** Where the application lives; the static pages name it too. */
    public const BASE = '/rubis';

    private const LINKS = [
        'index' => 'Home',
        'register' => 'Register',
        'browse' => 'Browse',
        'sell' => 'Sell',
        'about_me' => 'About me',
    ];

    public static function begin(string $title): string
    {
        $page = Html::markup("<!DOCTYPE html>\n<html lang=\"en\">\n"
            . "<head><meta charset=\"utf-8\"><title>RUBiS: %s</title></head>\n<body>\n<header>\n", $title)
            . Html::image('logo.png', 'RUBiS', 120, 60) . "\n<nav>\n";
        foreach (self::LINKS as $file => $label) {
            $page .= Html::markup("<a href=\"%s\">%s</a>\n", self::BASE . "/$file.html", $label);
        }
        return $page . Html::markup("</nav>\n</header>\n<main>\n<h1>%s</h1>\n", $title);
    }

    /** The end, with the time that the page took to make. */
    public static function end(int $nanoseconds): string
    {
        $milliseconds = round($nanoseconds / 1e6, 3);
        return "</main>\n<footer>Page made in $milliseconds ms</footer>\n</body>\n</html>\n";
    }
}
