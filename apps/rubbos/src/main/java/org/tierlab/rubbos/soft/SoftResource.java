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
}
