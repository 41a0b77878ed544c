package org.tierlab.rubbos.html;

import java.util.Arrays;
import java.util.stream.Collectors;

/** A page in the making. {@link #text} escapes; {@link #markup} is for this program's own literals only. */
public final class Html {
    /** Most pages fit; the pages of stories with comments grow to two or four times this. */
    private static final int INITIAL_CHARACTERS = 16_384;

    private final StringBuilder out = new StringBuilder(INITIAL_CHARACTERS);

    /** Appends markup as it is; each {@code %} takes the next value, escaped. */
    public Html markup(String literal, Object... values) {
        int next = 0;
        for (int i = 0; i < literal.length(); i++) {
            char c = literal.charAt(i);
            if (c == '%' && next < values.length) {
                text(String.valueOf(values[next++]));
            } else {
                out.append(c);
            }
        }
        if (next != values.length) {
            throw new IllegalArgumentException("more values than places in: " + literal);
        }
        return this;
    }

    /** Appends text from anywhere, harmless in an element and in a quoted attribute. */
    public Html text(String text) {
        int done = 0;
        for (int i = 0; i < text.length(); i++) {
            String reference = reference(text.charAt(i));
            if (reference != null) {
                out.append(text, done, i).append(reference);
                done = i + 1;
            }
        }
        out.append(text, done, text.length());
        return this;
    }

    /** What stands for a character that has a meaning in markup; null for any other. */
    private static String reference(char c) {
        return switch (c) {
            case '<' -> "&lt;";
            case '>' -> "&gt;";
            case '&' -> "&amp;";
            case '"' -> "&quot;";
            case '\'' -> "&#39;";
            default -> null;
        };
    }

    /** Appends a link; a {@link Link} is encoded already and needs no escaping. */
    public Html link(Link to, String label) {
        out.append("<a href=\"").append(to).append("\">");
        return text(label).raw("</a>\n");
    }

    /** Appends a hidden form field. */
    public Html hidden(String name, Object value) {
        return markup("<input type=\"hidden\" name=\"%\" value=\"%\">\n", name, value);
    }

    /** Appends a labelled line of a form. */
    public Html field(String label, String name, String type) {
        return markup("<p><label>% <input type=\"%\" name=\"%\"></label></p>\n", label, type, name);
    }

    /** Appends a labelled choice; the first of the options is preselected. */
    public Html select(String label, String name, Option... options) {
        markup("<p><label>% <select name=\"%\">\n", label, name);
        return raw(Arrays.stream(options).map(Option::markup).collect(Collectors.joining()))
                .raw("</select></label></p>\n");
    }

    /** One option of a {@link #select}. */
    public record Option(Object value, String label) {
        private String markup() {
            return new Html().markup("<option value=\"%\">%</option>\n", value, label).toString();
        }
    }

    private Html raw(String trusted) {
        out.append(trusted);
        return this;
    }

    @Override
    public String toString() {
        return out.toString();
    }
}
