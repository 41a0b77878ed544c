package org.tierlab.rubbos.page;

import java.sql.SQLException;
import org.tierlab.rubbos.Settings;
import org.tierlab.rubbos.data.Database;
import org.tierlab.rubbos.data.Statements;
import org.tierlab.rubbos.data.Users;
import org.tierlab.rubbos.data.Users.User;

/** Adds a user under a nickname that is still free. */
final class RegisterUser extends Page {
    RegisterUser(Database database, Settings settings) {
        super(database, settings, "Registration");
    }

    @Override
    void render(Exchange exchange) throws SQLException {
        Parameters parameters = exchange.parameters();
        String firstname = parameters.text("firstname", 20);
        String lastname = parameters.text("lastname", 20);
        String nickname = parameters.text("nickname", 20);
        String email = parameters.text("email", 50);
        String password = parameters.text("password", 20);
        Statements sql = exchange.sql();
        if (Users.byNickname(sql, nickname).isPresent()) {
            throw taken();
        }
        try {
            Users.insert(sql, firstname, lastname, nickname, email, password, Exchange.now());
        } catch (SQLException e) {
            // Somebody else may have taken the name since it was looked up.
            if (Statements.isDuplicate(e)) {
                throw taken();
            }
            throw e;
        }
        User user = Users.byNickname(sql, nickname)
                .orElseThrow(() -> new SQLException("the user just registered is not there"));
        exchange.html().markup("""
                <p>Welcome, %.</p>
                <ul>
                <li>User id: %</li>
                <li>Name: % %</li>
                <li>Email: %</li>
                <li>Rating: %</li>
                <li>Registered: %</li>
                </ul>
                """,
                user.nickname(), user.id(), user.firstname(), user.lastname(), user.email(),
                user.rating(), user.created());
    }

    private static Sorry taken() {
        return new Sorry("that nickname is taken; please choose another.");
    }
}
