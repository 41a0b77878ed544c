package org.tierlab.rubbos.page;

import java.sql.SQLException;
import org.tierlab.rubbos.Settings;
import org.tierlab.rubbos.data.Age;
import org.tierlab.rubbos.data.Comments;
import org.tierlab.rubbos.data.Comments.Comment;
import org.tierlab.rubbos.data.Database;
import org.tierlab.rubbos.data.Statements;
import org.tierlab.rubbos.data.Users;
import org.tierlab.rubbos.data.Users.Login;

/** Rates a comment, and its writer with it, within the comment's bounds. */
final class StoreModeratorLog extends Page {
    StoreModeratorLog(Database database, Settings settings) {
        super(database, settings, "Moderation");
    }

    @Override
    void render(Exchange exchange) throws SQLException {
        Parameters parameters = exchange.parameters();
        Age age = parameters.commentTable();
        int id = parameters.id("commentId");
        int rating = parameters.number("rating", -1, 1);
        String nickname = parameters.text("nickname", 20);
        String password = parameters.text("password", 20);
        Statements sql = exchange.sql();
        Login moderator = Users.login(sql, nickname, password)
                .filter(Login::author)
                .orElseThrow(() -> new Sorry("only an author may moderate."));
        Comment comment = Comments.byId(sql, age, id)
                .orElseThrow(() -> new Sorry("that comment does not exist."));
        sql.transaction(() -> {
            if (rating != 0 && Comments.addRating(sql, age, id, rating)) {
                Users.addRating(sql, comment.writer(), rating);
            }
            Comments.logModeration(sql, moderator.id(), id, rating, Exchange.now());
            return null;
        });
        exchange.html().markup("<p>The comment is rated % now, its writer %.</p>\n",
                Comments.rating(sql, age, id), Users.rating(sql, comment.writer()));
    }
}
