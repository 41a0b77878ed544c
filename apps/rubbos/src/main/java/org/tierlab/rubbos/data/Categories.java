package org.tierlab.rubbos.data;

import java.sql.SQLException;
import java.util.List;

/** The statements on categories. */
public final class Categories {
    private Categories() {}

    /** A category and its name. */
    public record Category(int id, String name) {}

    public static List<Category> all(Statements sql) throws SQLException {
        return sql.list(
                row -> new Category(row.getInt("id"), row.getString("name")),
                "SELECT id, name FROM categories ORDER BY id");
    }

    public static boolean exists(Statements sql, int id) throws SQLException {
        return sql.first(row -> true, "SELECT id FROM categories WHERE id = ?", id).isPresent();
    }
}
