package org.tierlab.rubbos.data;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.util.List;
import java.util.Optional;

/** The statements on stories, old stories and submissions. */
public final class Stories {
    private static final String HEADLINE =
            "SELECT s.id, s.title, s.date, u.nickname FROM %s s JOIN users u ON u.id = s.writer ";
    private static final String FULL =
            "SELECT s.id, s.title, s.body, s.date, s.writer, s.category, u.nickname"
                    + " FROM %s s JOIN users u ON u.id = s.writer ";
    private static final String NEWEST_FIRST = " ORDER BY s.date DESC, s.id DESC LIMIT ? OFFSET ?";

    private Stories() {}

    /** A row of a list. */
    public record Headline(int id, String title, LocalDateTime date, String author) {}

    /** A story with its text. */
    public record Story(
            int id, String title, String body, LocalDateTime date, int writer, int category,
            String author) {}

    /** Which rows of a list: {@code size} of them, after {@code number} pages. */
    public record Slice(int number, int size) {
        long offset() {
            return (long) number * size;
        }
    }

    private static Headline headline(ResultSet row) throws SQLException {
        return new Headline(
                row.getInt("id"),
                row.getString("title"),
                row.getObject("date", LocalDateTime.class),
                row.getString("nickname"));
    }

    private static Story story(ResultSet row) throws SQLException {
        return new Story(
                row.getInt("id"),
                row.getString("title"),
                row.getString("body"),
                row.getObject("date", LocalDateTime.class),
                row.getInt("writer"),
                row.getInt("category"),
                row.getString("nickname"));
    }

    public static List<Story> newest(Statements sql, int limit) throws SQLException {
        return sql.list(Stories::story, FULL.formatted("stories") + NEWEST_FIRST, limit, 0);
    }

    public static List<Headline> inCategory(Statements sql, int category, Slice slice)
            throws SQLException {
        return sql.list(
                Stories::headline,
                HEADLINE.formatted("stories") + "WHERE s.category = ?" + NEWEST_FIRST,
                category, slice.size(), slice.offset());
    }

    public static List<Headline> onDay(Statements sql, Age age, LocalDate day, Slice slice)
            throws SQLException {
        return sql.list(
                Stories::headline,
                HEADLINE.formatted(age.stories()) + "WHERE s.date >= ? AND s.date < ?" + NEWEST_FIRST,
                day.atStartOfDay(), day.plusDays(1).atStartOfDay(), slice.size(), slice.offset());
    }

    public static List<Headline> titled(Statements sql, Age age, String prefix, Slice slice)
            throws SQLException {
        return sql.list(
                Stories::headline,
                HEADLINE.formatted(age.stories()) + "WHERE s.title LIKE ? ESCAPE '!'" + NEWEST_FIRST,
                Pattern.startingWith(prefix), slice.size(), slice.offset());
    }

    public static List<Headline> writtenBy(Statements sql, Age age, String prefix, Slice slice)
            throws SQLException {
        return sql.list(
                Stories::headline,
                HEADLINE.formatted(age.stories()) + "WHERE u.nickname LIKE ? ESCAPE '!'" + NEWEST_FIRST,
                Pattern.startingWith(prefix), slice.size(), slice.offset());
    }

    public static Optional<Story> byId(Statements sql, Age age, int id) throws SQLException {
        return sql.first(Stories::story, FULL.formatted(age.stories()) + "WHERE s.id = ?", id);
    }

    public static boolean exists(Statements sql, Age age, int id) throws SQLException {
        return sql.first(row -> true, "SELECT id FROM " + age.stories() + " WHERE id = ?", id)
                .isPresent();
    }

    public static List<Story> submitted(Statements sql, int limit) throws SQLException {
        return sql.list(Stories::story, FULL.formatted("submissions") + NEWEST_FIRST, limit, 0);
    }

    public static Optional<Story> submission(Statements sql, int id) throws SQLException {
        return sql.first(Stories::story, FULL.formatted("submissions") + "WHERE s.id = ?", id);
    }

    public static void publish(
            Statements sql, String title, String body, LocalDateTime date, int writer, int category)
            throws SQLException {
        insert(sql, "stories", title, body, date, writer, category);
    }

    public static void submit(
            Statements sql, String title, String body, LocalDateTime date, int writer, int category)
            throws SQLException {
        insert(sql, "submissions", title, body, date, writer, category);
    }

    private static void insert(
            Statements sql, String table, String title, String body, LocalDateTime date, int writer,
            int category) throws SQLException {
        sql.update(
                "INSERT INTO " + table + " (title, body, date, writer, category) VALUES (?, ?, ?, ?, ?)",
                title, body, date, writer, category);
    }

    /** Whether the submission was still there. */
    public static boolean removeSubmission(Statements sql, int id) throws SQLException {
        return sql.update("DELETE FROM submissions WHERE id = ?", id) == 1;
    }
}
