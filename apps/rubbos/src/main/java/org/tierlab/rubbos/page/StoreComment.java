package org.tierlab.rubbos.page;

import java.sql.SQLException;
import org.tierlab.rubbos.Settings;
import org.tierlab.rubbos.data.Age;
import org.tierlab.rubbos.data.Comments;
import org.tierlab.rubbos.data.Database;
import org.tierlab.rubbos.data.Statements;
import org.tierlab.rubbos.data.Stories;
import org.tierlab.rubbos.data.Users;

/** Adds a comment below a story or another comment of that story. */
final class StoreComment extends Page {
    StoreComment(Database database, Settings settings) {
        super(database, settings, "Comment");
    }

    @Override
    void render(Exchange exchange) throws SQLException {
        Parameters parameters = exchange.parameters();
        Age age = parameters.commentTable();
        int story = parameters.id("storyId");
        int parent = parameters.id("parent");
        String nickname = parameters.optionalText("nickname", 20);
        String password = parameters.optionalText("password", 20);
        String subject = parameters.text("subject", 100);
        String body = parameters.text("body", Parameters.BODY_LENGTH);
        Statements sql = exchange.sql();
        int writer = Users.loginOrAnonymous(sql, nickname, password).id();
        if (!Stories.exists(sql, age, story)) {
            throw new Sorry("that story does not exist.");
        }
        sql.transaction(() -> {
            if (parent != Comments.TOP && !Comments.addChild(sql, age, story, parent)) {
                throw new Sorry("the comment you answer does not exist.");
            }
            Comments.insert(sql, age, writer, story, parent, Exchange.now(), subject, body);
            return null;
        });
        exchange.html().markup("<p>Your comment was stored: %</p>\n", subject);
    }
}
