package org.tierlab.rubbos.soft;

import java.util.OptionalInt;

/** A pool or a limit that requests may have to wait for. */
public interface SoftResource {
    /** Its name in the gauges and the control's protocol. */
    String name();

    int inUse();

    /** How many wait for it; empty if that cannot be known here. */
    OptionalInt waiting();

    int limit();

    /** Changes the limit, which is at least 1, at once. */
    void resize(int limit);

    /**
     * Has somebody who does nothing with it use so much of it; 0 gives all back. Waits for what is
     * in use.
     */
    default void hold(int count) {
        throw new IllegalArgumentException(name() + " cannot be held");
    }
}
