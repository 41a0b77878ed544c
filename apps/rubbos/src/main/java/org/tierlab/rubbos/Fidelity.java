package org.tierlab.rubbos;

/** Which of the published application's flaws are kept. */
public enum Fidelity {
    /** The listing of comments is paged and nested to any depth; comments carry their author by join. */
    CORRECTED,
    /** Every top-level comment on one page, one level of replies, one author lookup a comment. */
    PUBLISHED;

    static Fidelity parse(String word) {
        return switch (word) {
            case "corrected" -> CORRECTED;
            case "published" -> PUBLISHED;
            default -> throw new SettingsException(
                    "fidelity is \"" + word + "\"; it must be \"corrected\" or \"published\"");
        };
    }
}
