package org.tierlab.rubbos.soft;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Map;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

class OrdersTest {
    private static final class Fixed implements SoftResource {
        private int limit = 64;
        private int held;
        private boolean broken;

        @Override
        public String name() {
            return "pool";
        }

        @Override
        public int inUse() {
            return 0;
        }

        @Override
        public OptionalInt waiting() {
            return OptionalInt.empty();
        }

        @Override
        public int limit() {
            return limit;
        }

        @Override
        public void resize(int limit) {
            refuseIfBroken();
            this.limit = limit;
        }

        @Override
        public void hold(int count) {
            refuseIfBroken();
            held = count;
        }

        private void refuseIfBroken() {
            if (broken) {
                throw new IllegalStateException("broken");
            }
        }
    }

    private final Fixed pool = new Fixed();
    private final Fixed threads = new Fixed();
    private final Orders orders = new Orders(Map.of("pool", pool));

    @Test
    void anOrderIsAnsweredWithTheLimitBefore() {
        assertEquals("ok 64", orders.answer("get pool"));
        assertEquals("ok 64", orders.answer("set pool 2"));
        assertEquals("ok 2", orders.answer(" set  pool 1 "));
        assertEquals("ok 1", orders.answer("get pool"));
    }

    @Test
    void theFirstLimitComesBackWhenTheConnectionEnds() {
        orders.answer("set pool 2");
        orders.answer("set pool 1");
        orders.undo();
        assertEquals(64, pool.limit());
    }

    @Test
    void whatIsHeldIsGivenBackWhenTheConnectionEnds() {
        assertEquals("ok 64", orders.answer("hold pool 64"));
        assertEquals(64, pool.held);
        assertEquals(
                "error a number held is a whole number of at least 0, not \"-1\"",
                orders.answer("hold pool -1"));
        orders.undo();
        assertEquals(0, pool.held);
    }

    @Test
    void whatCannotBePutBackDoesNotKeepTheRest() {
        Orders both = new Orders(Map.of("pool", pool, "threads", threads));
        for (String name : new String[] {"pool", "threads"}) {
            both.answer("hold " + name + " 5");
            both.answer("set " + name + " 8");
        }
        threads.broken = true;
        both.undo();
        assertEquals(0, pool.held);
        assertEquals(64, pool.limit());
    }

    @Test
    void whatIsKeptStays() {
        orders.answer("set pool 2");
        assertEquals("ok 0", orders.answer("keep"));
        orders.undo();
        assertEquals(2, pool.limit());
    }

    @Test
    void whatIsNoOrderChangesNothing() {
        assertEquals("error no resource \"heap\"; they are pool", orders.answer("set heap 3"));
        assertEquals(
                "error a limit is a whole number of at least 1, not \"0\"",
                orders.answer("set pool 0"));
        assertEquals(
                "error a limit is a whole number of at least 1, not \"many\"",
                orders.answer("set pool many"));
        assertEquals(
                "error an order is: get RESOURCE, set RESOURCE LIMIT, hold RESOURCE NUMBER, or keep",
                orders.answer(""));
        assertEquals(64, pool.limit());
    }
}
