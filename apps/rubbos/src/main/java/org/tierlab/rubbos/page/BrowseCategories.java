package org.tierlab.rubbos.page;

import java.sql.SQLException;
import java.util.List;
import org.tierlab.rubbos.Settings;
import org.tierlab.rubbos.data.Categories;
import org.tierlab.rubbos.data.Categories.Category;
import org.tierlab.rubbos.data.Database;
import org.tierlab.rubbos.html.Html;
import org.tierlab.rubbos.html.Link;

/** All categories. */
final class BrowseCategories extends Page {
    BrowseCategories(Database database, Settings settings) {
        super(database, settings, "Categories");
    }

    @Override
    void render(Exchange exchange) throws SQLException {
        List<Category> categories = Categories.all(exchange.sql());
        if (categories.isEmpty()) {
            throw new Sorry("there are no categories.");
        }
        Html html = exchange.html().markup("<ul>\n");
        for (Category category : categories) {
            Link stories = Link.to("BrowseStoriesByCategory")
                    .with("category", category.id())
                    .with("categoryName", category.name());
            html.markup("<li>").link(stories, category.name()).markup("</li>\n");
        }
        html.markup("</ul>\n");
    }
}
