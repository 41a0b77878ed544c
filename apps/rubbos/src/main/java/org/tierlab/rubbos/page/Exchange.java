package org.tierlab.rubbos.page;

import java.sql.SQLException;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import org.tierlab.rubbos.Settings;
import org.tierlab.rubbos.data.Database;
import org.tierlab.rubbos.data.Statements;
import org.tierlab.rubbos.html.Html;

/** One request being answered: its parameters, its page, and its one connection once it needs one. */
final class Exchange implements AutoCloseable {
    private final Database database;
    private final String requestId;
    private final Settings settings;
    private final Parameters parameters;
    private final Html html;
    private Statements statements;

    Exchange(Database database, Settings settings, String requestId, Parameters parameters, Html html) {
        this.database = database;
        this.settings = settings;
        this.requestId = requestId;
        this.parameters = parameters;
        this.html = html;
    }

    Settings settings() {
        return settings;
    }

    Parameters parameters() {
        return parameters;
    }

    Html html() {
        return html;
    }

    /** The request's statements; the first call borrows the connection. */
    Statements sql() throws SQLException {
        if (statements == null) {
            statements = database.borrow(requestId);
        }
        return statements;
    }

    /** Now, as the tables store it: UTC, whole seconds. */
    static LocalDateTime now() {
        return LocalDateTime.now(ZoneOffset.UTC).truncatedTo(ChronoUnit.SECONDS);
    }

    @Override
    public void close() throws SQLException {
        if (statements != null) {
            statements.close();
        }
    }
}
