package org.tierlab.rubbos.page;

import java.sql.SQLException;
import java.util.List;
import org.tierlab.rubbos.data.Age;
import org.tierlab.rubbos.data.Stories.Headline;
import org.tierlab.rubbos.data.Stories.Slice;
import org.tierlab.rubbos.html.Html;
import org.tierlab.rubbos.html.Link;

/** What the list pages share. */
final class Listing {
    private Listing() {}

    static void headlines(Html html, List<Headline> stories) {
        html.markup("<ul>\n");
        for (Headline story : stories) {
            html.markup("<li>");
            html.link(Link.to("ViewStory").with("storyId", story.id()), story.title());
            html.markup("by % on %</li>\n", story.author(), story.date());
        }
        html.markup("</ul>\n");
    }

    /** Links to the neighbouring pages; a page that is not full is the last. */
    static void neighbours(Html html, Link list, Slice slice, int rows) {
        html.markup("<p>");
        if (slice.number() > 0) {
            html.link(page(list, slice, slice.number() - 1), "Previous page");
        }
        if (rows == slice.size()) {
            html.link(page(list, slice, slice.number() + 1), "Next page");
        }
        html.markup("</p>\n");
    }

    private static Link page(Link list, Slice slice, int number) {
        return list.with("page", number).with("nbOfStories", slice.size());
    }

    /** Rows of the newest month, or older ones where there are none. */
    @FunctionalInterface
    interface Query<T> {
        List<T> rows(Age age) throws SQLException;
    }

    /** What a query over both ages found, and where. */
    record Result<T>(Age age, List<T> rows) {}

    static <T> Result<T> newElseOld(Query<T> query, String nothing) throws SQLException {
        for (Age age : Age.values()) {
            List<T> rows = query.rows(age);
            if (!rows.isEmpty()) {
                return new Result<>(age, rows);
            }
        }
        throw new Sorry(nothing);
    }
}
