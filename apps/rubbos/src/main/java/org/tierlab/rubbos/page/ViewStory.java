package org.tierlab.rubbos.page;

import java.sql.SQLException;
import java.util.Optional;
import org.tierlab.rubbos.Settings;
import org.tierlab.rubbos.data.Age;
import org.tierlab.rubbos.data.Comments;
import org.tierlab.rubbos.data.Database;
import org.tierlab.rubbos.data.Stories;
import org.tierlab.rubbos.data.Stories.Story;
import org.tierlab.rubbos.html.Html;
import org.tierlab.rubbos.page.Discussion.Display;

/** A story with its comments and the titles of their replies. */
final class ViewStory extends Page {
    ViewStory(Database database, Settings settings) {
        super(database, settings, "Story");
    }

    @Override
    void render(Exchange exchange) throws SQLException {
        int id = exchange.parameters().id("storyId");
        for (Age age : Age.values()) {
            Optional<Story> story = Stories.byId(exchange.sql(), age, id);
            if (story.isPresent()) {
                show(exchange, age, story.get());
                return;
            }
        }
        throw new Sorry("that story does not exist.");
    }

    private static void show(Exchange exchange, Age age, Story story) throws SQLException {
        Html html = exchange.html();
        html.markup("<h2>%</h2>\n<p>by % on %</p>\n<p>%</p>\n",
                story.title(), story.author(), story.date(), story.body());
        html.link(Discussion.post(age, story.id(), Comments.TOP), "Post a comment");
        Discussion discussion = new Discussion(exchange, age, story.id(), 0, Display.NESTED_TITLES);
        discussion.filterForm(Comments.TOP);
        discussion.list(Comments.TOP, 0);
    }
}
