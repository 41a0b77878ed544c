package org.tierlab.rubbos.page;

import java.sql.SQLException;
import org.tierlab.rubbos.Settings;
import org.tierlab.rubbos.data.Categories;
import org.tierlab.rubbos.data.Database;
import org.tierlab.rubbos.data.Statements;
import org.tierlab.rubbos.data.Stories;
import org.tierlab.rubbos.data.Users;
import org.tierlab.rubbos.data.Users.Login;

/** Publishes an author's story at once; anybody else's waits for review. */
final class StoreStory extends Page {
    StoreStory(Database database, Settings settings) {
        super(database, settings, "Story");
    }

    @Override
    void render(Exchange exchange) throws SQLException {
        Parameters parameters = exchange.parameters();
        String nickname = parameters.optionalText("nickname", 20);
        String password = parameters.optionalText("password", 20);
        String title = parameters.text("title", 100);
        String body = parameters.text("body", Parameters.BODY_LENGTH);
        int category = parameters.id("category");
        Statements sql = exchange.sql();
        Login writer = Users.loginOrAnonymous(sql, nickname, password);
        if (!Categories.exists(sql, category)) {
            throw new Sorry("that category does not exist.");
        }
        if (writer.author()) {
            Stories.publish(sql, title, body, Exchange.now(), writer.id(), category);
            exchange.html().markup("<p>Your story is published: %</p>\n", title);
        } else {
            Stories.submit(sql, title, body, Exchange.now(), writer.id(), category);
            exchange.html().markup("<p>Your story waits for review: %</p>\n", title);
        }
    }
}
