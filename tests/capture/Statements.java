import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/**
 * What RUBBoS does not do: binary statements, cursors, several results, errors, large results. Its one
 * argument is the password.
 */
public final class Statements {
    private static final String BINARY = "&useServerPrepStmts=true&cachePrepStmts=false";

    public static void main(String[] arguments) throws Exception {
        String url = "jdbc:mariadb://127.0.3.1:3306/rubbos?user=rubbos&password=" + arguments[0];
        for (String options : new String[] {BINARY, "&allowMultiQueries=true"}) {
            try (Connection connection = DriverManager.getConnection(url + options)) {
                prepared(connection, options.equals(BINARY));
                plain(connection, !options.equals(BINARY));
            }
        }
    }

    private static void prepared(Connection connection, boolean binary) throws SQLException {
        String sql = "SELECT id, title, date FROM stories WHERE id > ? AND title <> ? ORDER BY id";
        for (int fetch : new int[] {0, 5}) {
            try (PreparedStatement statement = connection.prepareStatement(sql)) {
                statement.setFetchSize(binary ? fetch : 0);
                for (int number = 0; number < 20; number++) {
                    statement.setInt(1, number);
                    statement.setString(2, "it's " + number);
                    read(statement.executeQuery());
                }
            }
        }
    }

    private static void plain(Connection connection, boolean several) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            if (several) {
                statement.execute("SELECT 1; SELECT id FROM stories; SELECT 2 FROM stories LIMIT 0");
                while (statement.getMoreResults() || statement.getUpdateCount() >= 0) {
                    read(statement.getResultSet());
                }
            }
            read(statement.executeQuery("SELECT REPEAT('x', 3000000), REPEAT('y', 70000)"));
            read(statement.executeQuery("SELECT REPEAT('z', 100), a.id FROM stories a, stories b"));
            try {
                statement.executeQuery("SELECT nothing FROM nowhere");
                throw new AssertionError("the table nowhere exists");
            } catch (SQLException expected) {
                connection.isValid(1);
            }
        }
    }

    private static void read(ResultSet rows) throws SQLException {
        while (rows != null && rows.next()) {
            rows.getString(1);
        }
    }
}
