package org.tierlab.rubbos.data;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.LocalDateTime;
import java.util.List;
import java.util.Optional;

/** The statements on comments and old comments. */
public final class Comments {
    /** The parent of a story's top-level comments. */
    public static final int TOP = 0;

    public static final int LEAST_RATING = -1;
    public static final int MOST_RATING = 5;

    private static final String COLUMNS =
            "SELECT c.id, c.writer, c.story_id, c.parent, c.childs, c.rating, c.date, c.subject, c.comment";
    private static final String WITH_AUTHOR =
            COLUMNS + ", u.nickname FROM %s c JOIN users u ON u.id = c.writer ";
    private static final String BELOW = "WHERE c.story_id = ? AND c.parent = ? AND c.rating >= ?";

    private Comments() {}

    /** A comment; {@code author} is empty where it is looked up by itself. */
    public record Comment(
            int id, int writer, int storyId, int parent, int childs, int rating, LocalDateTime date,
            String subject, String text, Optional<String> author) {}

    /** How many of a story's comments have a rating. */
    public record RatingCount(int rating, int count) {}

    /** A comment that a search found. */
    public record Found(int id, int storyId, String subject, LocalDateTime date, String author) {}

    private static Comment comment(ResultSet row, Optional<String> author) throws SQLException {
        return new Comment(
                row.getInt("id"),
                row.getInt("writer"),
                row.getInt("story_id"),
                row.getInt("parent"),
                row.getInt("childs"),
                row.getInt("rating"),
                row.getObject("date", LocalDateTime.class),
                row.getString("subject"),
                row.getString("comment"),
                author);
    }

    private static Comment withAuthor(ResultSet row) throws SQLException {
        return comment(row, Optional.of(row.getString("nickname")));
    }

    public static List<RatingCount> countsByRating(Statements sql, Age age, int story)
            throws SQLException {
        return sql.list(
                row -> new RatingCount(row.getInt("rating"), row.getInt("n")),
                "SELECT rating, COUNT(rating) AS n FROM " + age.comments()
                        + " WHERE story_id = ? GROUP BY rating ORDER BY rating",
                story);
    }

    /** The comments right below a parent, oldest first, with their authors. */
    public static List<Comment> below(
            Statements sql, Age age, int story, int parent, int leastRating, int limit, long offset)
            throws SQLException {
        return sql.list(
                Comments::withAuthor,
                WITH_AUTHOR.formatted(age.comments()) + BELOW + " ORDER BY c.id LIMIT ? OFFSET ?",
                story, parent, leastRating, limit, offset);
    }

    /** As published: every comment below a parent in no stated order, without its author. */
    public static List<Comment> allBelow(
            Statements sql, Age age, int story, int parent, int leastRating) throws SQLException {
        return sql.list(
                row -> comment(row, Optional.empty()),
                COLUMNS + " FROM " + age.comments() + " c " + BELOW,
                story, parent, leastRating);
    }

    public static Optional<Comment> byId(Statements sql, Age age, int id) throws SQLException {
        return sql.first(
                Comments::withAuthor, WITH_AUTHOR.formatted(age.comments()) + "WHERE c.id = ?", id);
    }

    /** As published: the parent of a comment, which the page then does not use. */
    public static Optional<Integer> parent(Statements sql, Age age, int id) throws SQLException {
        return sql.first(
                row -> row.getInt("parent"), "SELECT parent FROM " + age.comments() + " WHERE id = ?", id);
    }

    public static int rating(Statements sql, Age age, int id) throws SQLException {
        return sql.first(
                        row -> row.getInt("rating"),
                        "SELECT rating FROM " + age.comments() + " WHERE id = ?", id)
                .orElse(0);
    }

    /** Adds to a comment's rating unless that would leave −1..5; returns whether it did. */
    public static boolean addRating(Statements sql, Age age, int id, int rating) throws SQLException {
        return sql.update(
                        "UPDATE " + age.comments() + " SET rating = rating + ?"
                                + " WHERE id = ? AND rating + ? BETWEEN ? AND ?",
                        rating, id, rating, LEAST_RATING, MOST_RATING)
                == 1;
    }

    public static void insert(
            Statements sql, Age age, int writer, int story, int parent, LocalDateTime date,
            String subject, String text) throws SQLException {
        sql.update(
                "INSERT INTO " + age.comments() + " (writer, story_id, parent, childs, rating, date,"
                        + " subject, comment) VALUES (?, ?, ?, 0, 0, ?, ?, ?)",
                writer, story, parent, date, subject, text);
    }

    /** Counts one more child; returns whether the story has that parent. */
    public static boolean addChild(Statements sql, Age age, int story, int parent) throws SQLException {
        return sql.update(
                        "UPDATE " + age.comments() + " SET childs = childs + 1 WHERE id = ? AND story_id = ?",
                        parent, story)
                == 1;
    }

    /**
     * One comment a story, the first found in each, whose subject begins with the words; newest first.
     * The story's other matches are folded by MIN(id), so that the grouping is the same on every server.
     */
    public static List<Found> titled(Statements sql, Age age, String prefix, Stories.Slice slice)
            throws SQLException {
        String table = age.comments();
        return sql.list(
                row -> new Found(
                        row.getInt("id"),
                        row.getInt("story_id"),
                        row.getString("subject"),
                        row.getObject("date", LocalDateTime.class),
                        row.getString("nickname")),
                "SELECT c.id, c.story_id, c.subject, c.date, u.nickname FROM " + table + " c"
                        + " JOIN users u ON u.id = c.writer WHERE "
                        + (age == Age.NEW
                                ? "c.id IN (SELECT MIN(m.id) FROM " + table
                                        + " m WHERE m.subject LIKE ? ESCAPE '!' GROUP BY m.story_id)"
                                : "c.subject LIKE ? ESCAPE '!'")
                        + " ORDER BY c.date DESC, c.id DESC LIMIT ? OFFSET ?",
                Pattern.startingWith(prefix), slice.size(), slice.offset());
    }

    public static void logModeration(
            Statements sql, int moderator, int comment, int rating, LocalDateTime date)
            throws SQLException {
        sql.update(
                "INSERT INTO moderator_log (moderator_id, comment_id, rating, date) VALUES (?, ?, ?, ?)",
                moderator, comment, rating, date);
    }
}
