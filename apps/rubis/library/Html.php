<?php

declare(strict_types=1);

namespace Tierlab\Rubis;

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
     * A link to a dynamic page, around markup.
     *
     * @param array<string, int|string> $parameters
     */
    public static function link(string $page, array $parameters, string $markup): string
    {
        $address = self::address($page) . ($parameters === [] ? '' : '?' . http_build_query($parameters));
        return self::markup('<a href="%s">', $address) . "$markup</a>";
    }

    /** The address of a dynamic page. */
    public static function address(string $page): string
    {
        return Layout::BASE . "/php/$page.php";
    }

    /** An image; the tag is upper-case because the published client looks for that. */
    public static function image(string $file, string $text, int $width, int $height): string
    {
        $address = Layout::BASE . "/images/$file";
        return self::markup('<IMG SRC="%s" alt="%s" width="%s" height="%s">', $address, $text, $width, $height);
    }

    /**
     * A form that is sent to a dynamic page.
     *
     * @param array<string, int|string> $hidden
     */
    public static function form(string $page, array $hidden, string $fields, string $send): string
    {
        $form = self::markup("<form action=\"%s\" method=\"post\">\n", self::address($page));
        foreach ($hidden as $name => $value) {
            $form .= self::markup("<input type=\"hidden\" name=\"%s\" value=\"%s\">\n", $name, $value);
        }
        return $form . $fields . self::markup("<p><button>%s</button></p>\n</form>\n", $send);
    }

    /** A labelled line of a form. */
    public static function field(string $label, string $name, string $type = 'text', string $value = ''): string
    {
        return self::markup(
            "<p><label>%s <input type=\"%s\" name=\"%s\" value=\"%s\"></label></p>\n",
            $label,
            $type,
            $name,
            $value,
        );
    }

    /**
     * A labelled choice, its options by value.
     *
     * @param array<int|string, int|string> $options
     */
    public static function select(string $label, string $name, array $options): string
    {
        return self::markup("<p><label>%s <select name=\"%s\">\n", $label, $name)
            . self::options($options) . "</select></label></p>\n";
    }

    /** @param array<int|string, int|string> $options */
    public static function options(array $options): string
    {
        $lines = '';
        foreach ($options as $value => $label) {
            $lines .= self::markup("<option value=\"%s\">%s</option>\n", $value, $label);
        }
        return $lines;
    }
}
