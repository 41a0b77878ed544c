package org.tierlab.rubbos.soft;

import java.util.List;
import java.util.OptionalInt;
import org.apache.coyote.AbstractProtocol;
import org.apache.tomcat.util.threads.ThreadPoolExecutor;

/**
 * The threads that answer requests: all connectors' together, each with the same limit. Loops, since
 * this code runs too seldom to be compiled, and streams are slow then.
 */
public final class WorkerThreads implements SoftResource {
    private final List<AbstractProtocol<?>> protocols;

    public WorkerThreads(List<AbstractProtocol<?>> protocols) {
        this.protocols = protocols;
    }

    @Override
    public String name() {
        return "threads";
    }

    @Override
    public int inUse() {
        int busy = 0;
        for (AbstractProtocol<?> protocol : protocols) {
            busy += pool(protocol).getActiveCount();
        }
        return busy;
    }

    /** Requests that have come and have no thread yet. */
    @Override
    public OptionalInt waiting() {
        int waiting = 0;
        for (AbstractProtocol<?> protocol : protocols) {
            waiting += pool(protocol).getQueue().size();
        }
        return OptionalInt.of(waiting);
    }

    @Override
    public int limit() {
        int limit = 0;
        for (AbstractProtocol<?> protocol : protocols) {
            limit += protocol.getMaxThreads();
        }
        return limit;
    }

    /** Threads beyond a smaller limit end as soon as they have nothing to do. */
    @Override
    public void resize(int limit) {
        int each = Math.max(1, limit / protocols.size());
        for (AbstractProtocol<?> protocol : protocols) {
            // The executor refuses a limit below the number of threads that it keeps.
            protocol.setMinSpareThreads(Math.min(protocol.getMinSpareThreads(), each));
            protocol.setMaxThreads(each);
        }
    }

    private static ThreadPoolExecutor pool(AbstractProtocol<?> protocol) {
        return (ThreadPoolExecutor) protocol.getExecutor();
    }
}
