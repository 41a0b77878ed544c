package org.tierlab.rubbos.page;

import java.sql.SQLException;
import java.time.LocalDate;
import org.tierlab.rubbos.Settings;
import org.tierlab.rubbos.data.Database;
import org.tierlab.rubbos.data.Stories;
import org.tierlab.rubbos.data.Stories.Headline;
import org.tierlab.rubbos.data.Stories.Slice;
import org.tierlab.rubbos.html.Html;
import org.tierlab.rubbos.html.Link;

/** The stories of a day; without a day, the form that asks for one. */
final class OlderStories extends Page {
    OlderStories(Database database, Settings settings) {
        super(database, settings, "Older stories");
    }

    @Override
    void render(Exchange exchange) throws SQLException {
        Parameters parameters = exchange.parameters();
        if (parameters.has("day") || parameters.has("month") || parameters.has("year")) {
            list(exchange, parameters.day(), parameters.slice());
        }
        exchange.html()
                .markup("<form action=\"%\" method=\"get\">\n", Link.to("OlderStories"))
                .field("Day", "day", "number")
                .field("Month", "month", "number")
                .field("Year", "year", "number")
                .markup("<p><button>Show the stories</button></p>\n</form>\n");
    }

    private static void list(Exchange exchange, LocalDate day, Slice slice) throws SQLException {
        Listing.Result<Headline> stories = Listing.newElseOld(
                age -> Stories.onDay(exchange.sql(), age, day, slice),
                "there are no stories on this page of that day.");
        Html html = exchange.html().markup("<h2>%</h2>\n", day);
        Listing.headlines(html, stories.rows());
        Link list = Link.to("OlderStories")
                .with("day", day.getDayOfMonth())
                .with("month", day.getMonthValue())
                .with("year", day.getYear());
        Listing.neighbours(html, list, slice, stories.rows().size());
    }
}
