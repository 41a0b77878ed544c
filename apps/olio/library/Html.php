<?php

declare(strict_types=1);

namespace Tierlab\Olio;

/** Markup: the literals are this program's own, every value is escaped. */
final class Html
{
    /** The literal with its values in the places of `%s`. */
    public static function markup(string $literal, int|string ...$values): string
    {
        return vsprintf($literal, array_map(self::escape(...), $values));
    }

    /** Text from anywhere, harmless in an element and in a quoted attribute. */
    public static function escape(int|string $text): string
    {
        return htmlspecialchars((string) $text, ENT_QUOTES | ENT_HTML5 | ENT_SUBSTITUTE, 'UTF-8');
    }

    /**
     * The address of a page, with its parameters.
     *
     * @param array<string, int|string> $parameters
     */
    public static function address(string $page, array $parameters = []): string
    {
        $query = $parameters === [] ? '' : '?' . http_build_query($parameters);
        return Layout::BASE . "/php/$page.php$query";
    }

    /**
     * A link to a page, around a text.
     *
     * @param array<string, int|string> $parameters
     */
    public static function link(string $page, array $parameters, int|string $text): string
    {
        return self::markup('<a href="%s">%s</a>', self::address($page, $parameters), $text);
    }

    /** A link to a person's page, around its username unless another text is given. */
    public static function person(mixed $username, string $text = ''): string
    {
        return self::link('users', ['username' => (string) $username], $text === '' ? (string) $username : $text);
    }

    /** A picture of the file store; without one, nothing. */
    public static function picture(string $file, string $text, int $width): string
    {
        if ($file === '') {
            return '';
        }
        $address = self::address('fileService', ['file' => $file]);
        return self::markup('<img src="%s" alt="%s" width="%s">', $address, $text, $width);
    }

    /** A form that is sent to a page. */
    public static function form(string $page, string $fields, string $name, string $send): string
    {
        return self::markup("<form action=\"%s\" method=\"post\">\n", self::address($page))
            . $fields . self::button($name, $send) . "</form>\n";
    }

    /** A form with files. */
    public static function upload(string $page, string $fields, string $name, string $send): string
    {
        return self::markup(
            "<form action=\"%s\" method=\"post\" enctype=\"multipart/form-data\">\n",
            self::address($page),
        ) . $fields . self::button($name, $send) . "</form>\n";
    }

    /** A labelled line of a form. */
    public static function field(string $label, string $name, string $type = 'text'): string
    {
        return self::markup("<p><label>%s <input type=\"%s\" name=\"%s\"></label></p>\n", $label, $type, $name);
    }

    /** A labelled text of several lines. */
    public static function area(string $label, string $name): string
    {
        return self::markup(
            "<p><label>%s <textarea name=\"%s\" rows=\"5\" cols=\"60\"></textarea></label></p>\n",
            $label,
            $name,
        );
    }

    /**
     * A labelled choice.
     *
     * @param list<int|string> $options
     */
    public static function select(string $label, string $name, array $options): string
    {
        $lines = '';
        foreach ($options as $option) {
            $lines .= self::markup("<option value=\"%s\">%s</option>\n", $option, $option);
        }
        return self::markup("<p><label>%s <select name=\"%s\">\n", $label, $name) . "$lines</select></label></p>\n";
    }

    private static function button(string $name, string $send): string
    {
        return self::markup("<p><button name=\"%s\" value=\"%s\">%s</button></p>\n", $name, $send, $send);
    }
}
