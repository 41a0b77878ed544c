package org.tierlab.rubbos.soft;

import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.OptionalInt;
import java.util.logging.Level;
import java.util.logging.Logger;

/** The pool of database connections. */
public final class ConnectionPool implements SoftResource {
    private static final Logger LOG = Logger.getLogger(ConnectionPool.class.getName());

    private final HikariDataSource source;
    private final Deque<Connection> held = new ArrayDeque<>();

    public ConnectionPool(HikariDataSource source) {
        this.source = source;
    }

    @Override
    public String name() {
        return "pool";
    }

    @Override
    public int inUse() {
        return source.getHikariPoolMXBean().getActiveConnections();
    }

    @Override
    public OptionalInt waiting() {
        return OptionalInt.of(source.getHikariPoolMXBean().getThreadsAwaitingConnection());
    }

    @Override
    public int limit() {
        return source.getHikariConfigMXBean().getMaximumPoolSize();
    }

    /** Connections beyond a smaller limit are closed: idle ones now, the others on their return. */
    @Override
    public void resize(int limit) {
        boolean shrinks = limit < limit();
        source.getHikariConfigMXBean().setMaximumPoolSize(limit);
        if (shrinks) {
            source.getHikariPoolMXBean().softEvictConnections();
        }
    }

    @Override
    public synchronized void hold(int count) {
        if (count > limit()) {
            throw new IllegalArgumentException("the pool has no more than " + limit());
        }
        int before = held.size();
        try {
            while (held.size() < count) {
                held.push(source.getConnection());
            }
            giveBackAbove(count);
        } catch (SQLException e) {
            giveBackAbove(before);
            throw new IllegalArgumentException("the pool gives no connection: " + e.getMessage(), e);
        }
    }

    /** One that is broken is given back all the same, and does not keep the others. */
    private void giveBackAbove(int count) {
        while (held.size() > count) {
            try {
                held.pop().close();
            } catch (SQLException e) {
                LOG.log(Level.WARNING, "a held connection came back broken", e);
            }
        }
    }
}
