package org.tierlab.rubbos.page;

import java.sql.SQLException;
import org.tierlab.rubbos.Settings;
import org.tierlab.rubbos.data.Database;
import org.tierlab.rubbos.data.Users;
import org.tierlab.rubbos.data.Users.Login;
import org.tierlab.rubbos.html.Link;

/** What an author may do after the login. */
final class Author extends Page {
    Author(Database database, Settings settings) {
        super(database, settings, "Author");
    }

    @Override
    void render(Exchange exchange) throws SQLException {
        String nickname = exchange.parameters().text("nickname", 20);
        String password = exchange.parameters().text("password", 20);
        Login author = Users.login(exchange.sql(), nickname, password)
                .filter(Login::author)
                .orElseThrow(() -> new Sorry("only an author has tasks here."));
        exchange.html().link(
                Link.to("ReviewStories").with("authorId", author.id()), "Review submitted stories");
    }
}
