package org.tierlab.rubbos.page;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class StoriesOfTheDayTest {
    @Test
    void bodiesAreCutBetweenCharacters() {
        assertEquals("short", StoriesOfTheDay.cut("short"));
        assertEquals(512, StoriesOfTheDay.cut("x".repeat(600)).length());
        assertEquals("x".repeat(511), StoriesOfTheDay.cut("x".repeat(511) + "𝄞" + "x".repeat(600)));
    }
}
