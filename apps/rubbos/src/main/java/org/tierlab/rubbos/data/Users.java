package org.tierlab.rubbos.data;

import java.sql.SQLException;
import java.time.LocalDateTime;
import java.util.Optional;

/** The statements on users. */
public final class Users {
    /** Writes what nobody logged in for. */
    public static final int ANONYMOUS = 0;

    private Users() {}

    /** Who logged in; only an author may moderate and publish. */
    public record Login(int id, boolean author) {}

    /** What the registration shows again. */
    public record User(
            int id, String firstname, String lastname, String nickname, String email,
            int rating, LocalDateTime created) {}

    public static Optional<Login> login(Statements sql, String nickname, String password)
            throws SQLException {
        return sql.first(
                row -> new Login(row.getInt("id"), row.getInt("access") != 0),
                "SELECT id, access FROM users WHERE nickname = ? AND password = ?",
                nickname, password);
    }

    /** The user of that name and password, else the anonymous one. */
    public static Login loginOrAnonymous(Statements sql, String nickname, String password)
            throws SQLException {
        if (nickname.isEmpty()) {
            return new Login(ANONYMOUS, false);
        }
        return login(sql, nickname, password).orElse(new Login(ANONYMOUS, false));
    }

    public static Optional<User> byNickname(Statements sql, String nickname) throws SQLException {
        return sql.first(
                row -> new User(
                        row.getInt("id"),
                        row.getString("firstname"),
                        row.getString("lastname"),
                        row.getString("nickname"),
                        row.getString("email"),
                        row.getInt("rating"),
                        row.getObject("creation_date", LocalDateTime.class)),
                "SELECT id, firstname, lastname, nickname, email, rating, creation_date"
                        + " FROM users WHERE nickname = ?",
                nickname);
    }

    public static void insert(
            Statements sql, String firstname, String lastname, String nickname, String email,
            String password, LocalDateTime now) throws SQLException {
        sql.update(
                "INSERT INTO users (firstname, lastname, nickname, password, email, rating, access,"
                        + " creation_date) VALUES (?, ?, ?, ?, ?, 0, 0, ?)",
                firstname, lastname, nickname, password, email, now);
    }

    /** The author's name of one row, as the published application looks it up. */
    public static String nickname(Statements sql, int id) throws SQLException {
        return sql.first(
                        row -> row.getString("nickname"), "SELECT nickname FROM users WHERE id = ?", id)
                .orElse("");
    }

    public static int rating(Statements sql, int id) throws SQLException {
        return sql.first(row -> row.getInt("rating"), "SELECT rating FROM users WHERE id = ?", id)
                .orElse(0);
    }

    public static void addRating(Statements sql, int id, int rating) throws SQLException {
        sql.update("UPDATE users SET rating = rating + ? WHERE id = ?", rating, id);
    }
}
