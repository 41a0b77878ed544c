package org.tierlab.rubbos.data;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.sql.SQLException;
import org.tierlab.rubbos.Settings;
import org.tierlab.rubbos.soft.ConnectionPool;
import org.tierlab.rubbos.soft.SoftResource;

/** The connection pool: a fixed number of connections, all opened at the start. */
public final class Database implements AutoCloseable {
    private final HikariDataSource pool;

    /** Opens the pool; throws HikariCP's PoolInitializationException when the server is not there. */
    public Database(Settings settings) {
        HikariConfig config = new HikariConfig();
        config.setPoolName("rubbos");
        config.setJdbcUrl(settings.jdbcUrl());
        config.setUsername(settings.jdbcUser());
        config.setPassword(settings.jdbcPassword());
        config.setMaximumPoolSize(settings.poolSize());
        config.setConnectionTimeout(settings.poolTimeoutMs());
        // No renewal in the middle of a trial: a reconnect would look like an event of the system.
        config.setMaxLifetime(0);
        pool = new HikariDataSource(config);
    }

    /** Borrows a connection for one request, waiting for one at most the pool's timeout. */
    public Statements borrow(String requestId) throws SQLException {
        return new Statements(pool.getConnection(), requestId);
    }

    /** The pool's use and limit. */
    public SoftResource connections() {
        return new ConnectionPool(pool);
    }

    @Override
    public void close() {
        pool.close();
    }
}
