package org.tierlab.rubbos.page;

import java.sql.SQLException;
import java.util.List;
import org.tierlab.rubbos.Settings;
import org.tierlab.rubbos.data.Database;
import org.tierlab.rubbos.data.Stories;
import org.tierlab.rubbos.data.Stories.Story;
import org.tierlab.rubbos.html.Html;
import org.tierlab.rubbos.html.Link;

/** The home page: the ten newest stories, their texts cut. */
final class StoriesOfTheDay extends Page {
    private static final int STORIES = 10;
    private static final int SHOWN_CHARACTERS = 512;

    StoriesOfTheDay(Database database, Settings settings) {
        super(database, settings, "Stories of the day");
    }

    @Override
    void render(Exchange exchange) throws SQLException {
        List<Story> stories = Stories.newest(exchange.sql(), STORIES);
        if (stories.isEmpty()) {
            throw new Sorry("there are no stories yet.");
        }
        Html html = exchange.html();
        for (Story story : stories) {
            html.markup("<h2>");
            html.link(Link.to("ViewStory").with("storyId", story.id()), story.title());
            html.markup("</h2>\n<p>by % on %</p>\n<p>%</p>\n",
                    story.author(), story.date(), cut(story.body()));
        }
    }

    /** At most {@link #SHOWN_CHARACTERS} characters, never half of a surrogate pair. */
    static String cut(String body) {
        if (body.length() <= SHOWN_CHARACTERS) {
            return body;
        }
        boolean splits = Character.isHighSurrogate(body.charAt(SHOWN_CHARACTERS - 1));
        return body.substring(0, splits ? SHOWN_CHARACTERS - 1 : SHOWN_CHARACTERS);
    }
}
