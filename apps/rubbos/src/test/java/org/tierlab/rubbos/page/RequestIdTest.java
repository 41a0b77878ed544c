package org.tierlab.rubbos.page;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.NullAndEmptySource;
import org.junit.jupiter.params.provider.ValueSource;

class RequestIdTest {
    @Test
    void hexadecimalIdsAreTakenAsTheyAre() {
        assertEquals("00DEADbeef000001", RequestId.of("00DEADbeef000001"));
    }

    @ParameterizedTest
    @NullAndEmptySource
    @ValueSource(strings = {"xyz", "ab*/ DROP TABLE users", "ab\n", "a b", "0123456789abcdef0123456789abcdef0"})
    void anythingElseIsNoId(String header) {
        assertEquals("", RequestId.of(header));
    }
}
