package org.tierlab.rubbos.page;

import java.sql.SQLException;
import org.tierlab.rubbos.Settings;
import org.tierlab.rubbos.data.Categories;
import org.tierlab.rubbos.data.Database;
import org.tierlab.rubbos.html.Html.Option;
import org.tierlab.rubbos.html.Link;

/** The form for a story. */
final class SubmitStory extends Page {
    SubmitStory(Database database, Settings settings) {
        super(database, settings, "Submit a story");
    }

    @Override
    void render(Exchange exchange) throws SQLException {
        Option[] categories = Categories.all(exchange.sql()).stream()
                .map(category -> new Option(category.id(), category.name()))
                .toArray(Option[]::new);
        exchange.html()
                .markup("<form action=\"%\" method=\"post\">\n", Link.to("StoreStory"))
                .field("Nickname", "nickname", "text")
                .field("Password", "password", "password")
                .field("Title", "title", "text")
                .select("Category", "category", categories)
                .markup("<p><label>Story <textarea name=\"body\"></textarea></label></p>\n")
                .markup("<p><button>Submit it</button></p>\n</form>\n");
    }
}
