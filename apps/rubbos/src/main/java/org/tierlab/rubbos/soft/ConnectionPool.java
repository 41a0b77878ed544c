package org.tierlab.rubbos.soft;

import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.OptionalInt;

/** The pool of database connections. */
public final class ConnectionPool implements SoftResource {
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
        try {
            while (held.size() > count) {
                held.pop().close();
            }
            while (held.size() < count) {
                held.push(source.getConnection());
            }
        } catch (SQLException e) {
            throw new IllegalArgumentException("the pool gives no connection: " + e.getMessage(), e);
        }
    }
}
