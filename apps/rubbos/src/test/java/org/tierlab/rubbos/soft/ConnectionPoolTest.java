package org.tierlab.rubbos.soft;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Against a real pool over a database that has {@code MOST} connections and forgets everything. */
class ConnectionPoolTest {
    private static final int MOST = 3;
    private static final int LIMIT = 5;
    /** The least that the pool takes. */
    private static final int PATIENCE_MS = 250;

    private int made;
    private boolean broken;
    private final HikariDataSource source = new HikariDataSource(config());
    private final ConnectionPool pool = new ConnectionPool(source);

    private HikariConfig config() {
        HikariConfig config = new HikariConfig();
        config.setDataSource(stub(DataSource.class, this::connect));
        config.setMaximumPoolSize(LIMIT);
        config.setMinimumIdle(0);
        // It would make one at the start, only to see whether it can.
        config.setInitializationFailTimeout(-1);
        config.setConnectionTimeout(PATIENCE_MS);
        return config;
    }

    private synchronized Object connect(Object proxy, Method method, Object[] arguments)
            throws SQLException {
        if (!method.getName().equals("getConnection")) {
            return nothing(method);
        }
        if (made == MOST) {
            throw new SQLException("too many connections");
        }
        made++;
        return stub(Connection.class, this::converse);
    }

    /** A connection is given back only once its warnings are forgotten. */
    private Object converse(Object proxy, Method method, Object[] arguments) throws SQLException {
        if (broken && method.getName().equals("clearWarnings")) {
            throw new SQLException("it is gone");
        }
        return nothing(method);
    }

    private static Object nothing(Method method) {
        Class<?> type = method.getReturnType();
        return type == boolean.class ? (Object) true : type == int.class ? 0 : null;
    }

    private static <T> T stub(Class<T> type, InvocationHandler handler) {
        return type.cast(
                Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
    }

    @AfterEach
    void close() {
        source.close();
    }

    @Test
    void whatIsHeldIsInUseUntilItIsGivenBack() {
        pool.hold(3);
        assertEquals(3, pool.inUse());
        pool.hold(1);
        assertEquals(1, pool.inUse());
        pool.hold(0);
        assertEquals(0, pool.inUse());
    }

    @Test
    void noMoreThanTheLimitIsHeld() {
        assertThrows(IllegalArgumentException.class, () -> pool.hold(LIMIT + 1));
        assertEquals(0, pool.inUse());
    }

    @Test
    void aHoldThatFailsHalfWayLeavesWhatWasHeldBefore() {
        pool.hold(1);
        assertThrows(IllegalArgumentException.class, () -> pool.hold(LIMIT));
        assertEquals(1, pool.inUse());
    }

    @Test
    void aBrokenConnectionDoesNotKeepTheOthersFromBeingGivenBack() {
        pool.hold(3);
        broken = true;
        pool.hold(0);
        assertEquals(0, pool.inUse());
    }
}
