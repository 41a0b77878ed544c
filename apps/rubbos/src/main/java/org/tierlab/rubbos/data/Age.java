package org.tierlab.rubbos.data;

import java.util.Optional;

/** The two pairs of tables: the newest month, and everything older. */
public enum Age {
    NEW("stories", "comments"),
    OLD("old_stories", "old_comments");

    private final String stories;
    private final String comments;

    Age(String stories, String comments) {
        this.stories = stories;
        this.comments = comments;
    }

    /** The table's name, safe to put into a statement. */
    public String stories() {
        return stories;
    }

    /** The table's name, safe to put into a statement and a link. */
    public String comments() {
        return comments;
    }

    /** The pair whose comment table has this name; the name comes from outside. */
    public static Optional<Age> ofComments(String table) {
        for (Age age : values()) {
            if (age.comments.equals(table)) {
                return Optional.of(age);
            }
        }
        return Optional.empty();
    }
}
