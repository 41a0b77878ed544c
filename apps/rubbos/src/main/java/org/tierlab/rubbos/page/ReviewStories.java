package org.tierlab.rubbos.page;

import java.sql.SQLException;
import java.util.List;
import org.tierlab.rubbos.Settings;
import org.tierlab.rubbos.data.Database;
import org.tierlab.rubbos.data.Stories;
import org.tierlab.rubbos.data.Stories.Story;
import org.tierlab.rubbos.html.Html;
import org.tierlab.rubbos.html.Link;

/** The ten newest submissions with their texts. */
final class ReviewStories extends Page {
    private static final int STORIES = 10;

    ReviewStories(Database database, Settings settings) {
        super(database, settings, "Review stories");
    }

    @Override
    void render(Exchange exchange) throws SQLException {
        List<Story> stories = Stories.submitted(exchange.sql(), STORIES);
        if (stories.isEmpty()) {
            throw new Sorry("there is no story to review.");
        }
        Html html = exchange.html();
        for (Story story : stories) {
            html.markup("<h2>%</h2>\n<p>by % on %</p>\n<p>%</p>\n<p>",
                    story.title(), story.author(), story.date(), story.body());
            html.link(Link.to("AcceptStory").with("storyId", story.id()), "Accept");
            html.link(Link.to("RejectStory").with("storyId", story.id()), "Reject");
            html.markup("</p>\n");
        }
    }
}
