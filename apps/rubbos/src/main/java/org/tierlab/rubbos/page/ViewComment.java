package org.tierlab.rubbos.page;

import java.sql.SQLException;
import org.tierlab.rubbos.Fidelity;
import org.tierlab.rubbos.Settings;
import org.tierlab.rubbos.data.Age;
import org.tierlab.rubbos.data.Comments;
import org.tierlab.rubbos.data.Comments.Comment;
import org.tierlab.rubbos.data.Database;
import org.tierlab.rubbos.data.Statements;
import org.tierlab.rubbos.page.Discussion.Display;

/** A comment and its replies; comment 0 stands for all top-level comments of the story. */
final class ViewComment extends Page {
    ViewComment(Database database, Settings settings) {
        super(database, settings, "Comments");
    }

    @Override
    void render(Exchange exchange) throws SQLException {
        Parameters parameters = exchange.parameters();
        Age age = parameters.commentTable();
        int story = parameters.id("storyId");
        int comment = parameters.id("commentId");
        int filter = parameters.number("filter", Comments.LEAST_RATING, Comments.MOST_RATING, 0);
        int page = parameters.page();
        Discussion discussion = new Discussion(exchange, age, story, filter, Display.of(parameters));
        if (exchange.settings().fidelity() == Fidelity.PUBLISHED) {
            published(exchange.sql(), discussion, age, comment);
        } else {
            corrected(exchange.sql(), discussion, age, story, comment, page);
        }
    }

    /** As published: whichever comment was chosen, all of the story's are listed. */
    private static void published(Statements sql, Discussion discussion, Age age, int comment)
            throws SQLException {
        if (comment != Comments.TOP && Comments.parent(sql, age, comment).isEmpty()) {
            throw new Sorry("that comment does not exist.");
        }
        discussion.filterForm(comment);
        if (discussion.list(Comments.TOP, 0) == 0) {
            throw new Sorry("the story has no such comments.");
        }
    }

    private static void corrected(
            Statements sql, Discussion discussion, Age age, int story, int comment, int page)
            throws SQLException {
        if (comment != Comments.TOP) {
            Comment chosen = Comments.byId(sql, age, comment)
                    .filter(found -> found.storyId() == story)
                    .orElseThrow(() -> new Sorry("that comment does not exist."));
            discussion.full(chosen);
        }
        discussion.filterForm(comment);
        int listed = discussion.list(comment, page);
        if (comment == Comments.TOP && listed == 0) {
            throw new Sorry("there are no comments on this page of the story.");
        }
    }
}
