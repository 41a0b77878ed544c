package org.tierlab.rubbos.page;

import java.sql.SQLException;
import org.tierlab.rubbos.Settings;
import org.tierlab.rubbos.data.Database;
import org.tierlab.rubbos.data.Statements;
import org.tierlab.rubbos.data.Stories;
import org.tierlab.rubbos.data.Stories.Story;

/** Moves a submission to the stories. */
final class AcceptStory extends Page {
    AcceptStory(Database database, Settings settings) {
        super(database, settings, "Accept a story");
    }

    @Override
    void render(Exchange exchange) throws SQLException {
        int id = exchange.parameters().id("storyId");
        Statements sql = exchange.sql();
        Story story = sql.transaction(() -> {
            Story submission = Stories.submission(sql, id).orElseThrow(AcceptStory::gone);
            // The removal comes first: of two reviewers at once, only one may publish.
            if (!Stories.removeSubmission(sql, id)) {
                throw gone();
            }
            Stories.publish(sql, submission.title(), submission.body(), submission.date(),
                    submission.writer(), submission.category());
            return submission;
        });
        exchange.html().markup("<p>The story is published: %</p>\n", story.title());
    }

    private static Sorry gone() {
        return new Sorry("that submission does not exist.");
    }
}
