package org.tierlab.rubbos.data;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The statements of one request on its one connection. Each carries the request's id as a leading
 * comment, so that it can be told on the wire whose it is. Transactions are spoken in SQL, not
 * through setAutoCommit, because the driver's own SET statements would carry no comment.
 */
public final class Statements implements AutoCloseable {
    private static final int ATTEMPTS = 3;

    private final Connection connection;
    private final String comment;

    Statements(Connection connection, String requestId) {
        this.connection = connection;
        this.comment = requestId.isEmpty() ? "" : "/*rid=" + requestId + "*/ ";
    }

    /** Makes a value of a row. */
    @FunctionalInterface
    public interface Row<T> {
        T read(ResultSet row) throws SQLException;
    }

    /** The work of one transaction; it may run again when the server rolls it back. */
    @FunctionalInterface
    public interface Work<T> {
        T run() throws SQLException;
    }

    public <T> List<T> list(Row<T> row, String sql, Object... parameters) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(comment + sql)) {
            bind(statement, parameters);
            try (ResultSet rows = statement.executeQuery()) {
                List<T> result = new ArrayList<>();
                while (rows.next()) {
                    result.add(row.read(rows));
                }
                return result;
            }
        }
    }

    /** The first row, if there is one. */
    public <T> Optional<T> first(Row<T> row, String sql, Object... parameters) throws SQLException {
        return list(row, sql, parameters).stream().findFirst();
    }

    /** Runs an INSERT, UPDATE or DELETE; returns the number of rows it touched. */
    public int update(String sql, Object... parameters) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(comment + sql)) {
            bind(statement, parameters);
            return statement.executeUpdate();
        }
    }

    /**
     * Runs the work in a transaction. A deadlock, or a conflict that a cluster finds at the commit
     * (SQLSTATE class 40), is tried again; any other failure rolls back and is thrown.
     */
    public <T> T transaction(Work<T> work) throws SQLException {
        for (int attempt = 1; ; attempt++) {
            execute("START TRANSACTION");
            try {
                T result = work.run();
                execute("COMMIT");
                return result;
            } catch (SQLException | RuntimeException e) {
                rollback(e);
                if (attempt == ATTEMPTS || !isConflict(e)) {
                    throw e;
                }
            }
        }
    }

    /** Whether the statement failed because a unique key is taken (SQLSTATE class 23). */
    public static boolean isDuplicate(SQLException failure) {
        return isOfClass("23", failure);
    }

    private static boolean isConflict(Exception failure) {
        return failure instanceof SQLException sql && isOfClass("40", sql);
    }

    private static boolean isOfClass(String sqlStateClass, SQLException failure) {
        return failure.getSQLState() != null && failure.getSQLState().startsWith(sqlStateClass);
    }

    private void rollback(Exception cause) {
        try {
            execute("ROLLBACK");
        } catch (SQLException e) {
            cause.addSuppressed(e);
        }
    }

    private void execute(String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(comment + sql);
        }
    }

    private static void bind(PreparedStatement statement, Object... parameters) throws SQLException {
        for (int i = 0; i < parameters.length; i++) {
            statement.setObject(i + 1, parameters[i]);
        }
    }

    /** Gives the connection back to the pool. */
    @Override
    public void close() throws SQLException {
        connection.close();
    }
}
