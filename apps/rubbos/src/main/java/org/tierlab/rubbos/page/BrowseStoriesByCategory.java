package org.tierlab.rubbos.page;

import java.sql.SQLException;
import java.util.List;
import org.tierlab.rubbos.Settings;
import org.tierlab.rubbos.data.Database;
import org.tierlab.rubbos.data.Stories;
import org.tierlab.rubbos.data.Stories.Headline;
import org.tierlab.rubbos.data.Stories.Slice;
import org.tierlab.rubbos.html.Html;
import org.tierlab.rubbos.html.Link;

/** A category's new stories, newest first. */
final class BrowseStoriesByCategory extends Page {
    BrowseStoriesByCategory(Database database, Settings settings) {
        super(database, settings, "Stories in a category");
    }

    @Override
    void render(Exchange exchange) throws SQLException {
        int category = exchange.parameters().id("category");
        String name = exchange.parameters().optionalText("categoryName", 50);
        Slice slice = exchange.parameters().slice();
        List<Headline> stories = Stories.inCategory(exchange.sql(), category, slice);
        if (stories.isEmpty()) {
            throw new Sorry("there are no stories on this page of the category.");
        }
        Html html = exchange.html().markup("<h2>%</h2>\n", name);
        Listing.headlines(html, stories);
        Link list = Link.to("BrowseStoriesByCategory").with("category", category).with("categoryName", name);
        Listing.neighbours(html, list, slice, stories.size());
    }
}
