package org.tierlab.rubbos.page;

import java.sql.SQLException;
import org.tierlab.rubbos.Settings;
import org.tierlab.rubbos.data.Database;
import org.tierlab.rubbos.data.Statements;
import org.tierlab.rubbos.data.Stories;

/** Removes a submission. */
final class RejectStory extends Page {
    RejectStory(Database database, Settings settings) {
        super(database, settings, "Reject a story");
    }

    @Override
    void render(Exchange exchange) throws SQLException {
        int id = exchange.parameters().id("storyId");
        Statements sql = exchange.sql();
        if (Stories.submission(sql, id).isEmpty() || !Stories.removeSubmission(sql, id)) {
            throw new Sorry("that submission does not exist.");
        }
        exchange.html().markup("<p>The story was rejected.</p>\n");
    }
}
