package org.tierlab.rubbos.data;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class PatternTest {
    @Test
    void wildcardsInTheWordsAreLiteral() {
        assertEquals("50!% of!_all!!%", Pattern.startingWith("50% of_all!"));
    }
}
