<?php

declare(strict_types=1);

namespace Tierlab\Olio;

/** What every page has: the head with its style sheets and scripts, the navigation, and the login. */
final class Layout
{
    /** Where the application lives; the style sheets name it too. */
    public const BASE = '/olio';

    private const STYLES = ['scaffold', 'site'];
    private const SCRIPTS = ['elements', 'application', 'effects', 'controls'];
    private const LINKS = ['index' => 'Home', 'addEvent' => 'Add event', 'addPerson' => 'Register'];

    /** The page around its content, as this user sees it. */
    public static function page(string $title, string $content, ?string $user): string
    {
        return self::head($title) . "<body>\n<header>\n<nav>\n" . self::navigation() . "</nav>\n"
            . self::visitor($user) . Html::markup("</header>\n<main>\n<h1>%s</h1>\n", $title)
            . "$content</main>\n</body>\n</html>\n";
    }

    private static function head(string $title): string
    {
        $head = "<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\">"
            . Html::markup("<title>Olio: %s</title>\n", $title);
        foreach (self::STYLES as $name) {
            $head .= Html::markup("<link rel=\"stylesheet\" href=\"%s\">\n", self::BASE . "/css/$name.css");
        }
        foreach (self::SCRIPTS as $name) {
            $head .= self::script($name);
        }
        return "$head</head>\n";
    }

    /** A script of the site's. */
    public static function script(string $name): string
    {
        return Html::markup("<script src=\"%s\"></script>\n", self::BASE . "/js/$name.js");
    }

    private static function navigation(): string
    {
        $links = '';
        foreach (self::LINKS as $page => $label) {
            $links .= Html::link($page, [], $label) . "\n";
        }
        return $links;
    }

    private static function visitor(?string $user): string
    {
        if ($user !== null) {
            return '<p>' . Html::person($user) . ' ' . Html::link('logout', [], 'Log out') . "</p>\n";
        }
        return LoginForm::show();
    }
}
