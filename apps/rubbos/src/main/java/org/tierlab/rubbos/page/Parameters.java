package org.tierlab.rubbos.page;

import jakarta.servlet.ServletRequest;
import java.time.DateTimeException;
import java.time.LocalDate;
import org.tierlab.rubbos.data.Age;
import org.tierlab.rubbos.data.Stories.Slice;

/** The parameters of a request, read as what a page needs them to be. */
final class Parameters {
    /** Rows of a list page unless the request says otherwise. */
    private static final int DEFAULT_ROWS = 25;

    private static final int MOST_ROWS = 100;

    /** TEXT holds 65,535 bytes; a character takes up to four. */
    static final int BODY_LENGTH = 16_000;

    private final ServletRequest request;

    Parameters(ServletRequest request) {
        this.request = request;
    }

    boolean has(String name) {
        return request.getParameter(name) != null;
    }

    int number(String name, int least, int most) {
        String value = request.getParameter(name);
        if (value != null) {
            try {
                int number = Integer.parseInt(value);
                if (number >= least && number <= most) {
                    return number;
                }
            } catch (NumberFormatException e) {
                // Falls through: the answer is the same for every unusable value.
            }
        }
        throw new BadParameter(name, "a whole number from " + least + " to " + most);
    }

    int number(String name, int least, int most, int otherwise) {
        return has(name) ? number(name, least, most) : otherwise;
    }

    int id(String name) {
        return number(name, 0, Integer.MAX_VALUE);
    }

    /** A text that must be there, not blank, and fit its column. */
    String text(String name, int longest) {
        String value = optionalText(name, longest);
        if (value.isBlank()) {
            throw new BadParameter(name, "a text of 1 to " + longest + " characters");
        }
        return value;
    }

    /** A text that may be missing or empty, but must fit its column. */
    String optionalText(String name, int longest) {
        String value = request.getParameter(name);
        if (value == null) {
            return "";
        }
        if (value.codePointCount(0, value.length()) > longest || value.indexOf('\0') >= 0) {
            throw new BadParameter(name, "a text of at most " + longest + " characters");
        }
        return value;
    }

    Age commentTable() {
        String value = request.getParameter("comment_table");
        return Age.ofComments(value == null ? "" : value)
                .orElseThrow(() -> new BadParameter("comment_table", "comments or old_comments"));
    }

    Slice slice() {
        return new Slice(page(), number("nbOfStories", 1, MOST_ROWS, DEFAULT_ROWS));
    }

    int page() {
        return number("page", 0, Integer.MAX_VALUE, 0);
    }

    LocalDate day() {
        int year = number("year", 1, 9999);
        int month = number("month", 1, 12);
        int day = number("day", 1, 31);
        try {
            return LocalDate.of(year, month, day);
        } catch (DateTimeException e) {
            throw new BadParameter("day", "a day of its month");
        }
    }
}
