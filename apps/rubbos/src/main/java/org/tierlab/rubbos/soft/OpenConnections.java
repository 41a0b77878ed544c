package org.tierlab.rubbos.soft;

import java.util.List;
import java.util.OptionalInt;
import org.apache.coyote.AbstractProtocol;

/** Connections that the connectors have accepted; more than the limit stay in the accept queue. */
public final class OpenConnections implements SoftResource {
    private final List<AbstractProtocol<?>> protocols;

    public OpenConnections(List<AbstractProtocol<?>> protocols) {
        this.protocols = protocols;
    }

    @Override
    public String name() {
        return "max_connections";
    }

    @Override
    public int inUse() {
        int open = 0;
        for (AbstractProtocol<?> protocol : protocols) {
            open += (int) protocol.getConnectionCount();
        }
        return open;
    }

    /** Those in the accept queue are the kernel's to count. */
    @Override
    public OptionalInt waiting() {
        return OptionalInt.empty();
    }

    @Override
    public int limit() {
        int limit = 0;
        for (AbstractProtocol<?> protocol : protocols) {
            limit += protocol.getMaxConnections();
        }
        return limit;
    }

    @Override
    public void resize(int limit) {
        int each = Math.max(1, limit / protocols.size());
        protocols.forEach(protocol -> protocol.setMaxConnections(each));
    }
}
