package org.tierlab.rubbos.data;

/** Patterns for {@code LIKE ? ESCAPE '!'}; the backslash is no escape character in every server. */
final class Pattern {
    private Pattern() {}

    static String startingWith(String prefix) {
        return prefix.replace("!", "!!").replace("%", "!%").replace("_", "!_") + "%";
    }
}
