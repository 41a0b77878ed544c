package org.tierlab.rubbos.page;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import jakarta.servlet.ServletRequest;
import java.lang.reflect.Proxy;
import java.time.LocalDate;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tierlab.rubbos.data.Age;
import org.tierlab.rubbos.data.Stories.Slice;

class ParametersTest {
    private static Parameters of(Map<String, String> values) {
        return new Parameters((ServletRequest) Proxy.newProxyInstance(
                ServletRequest.class.getClassLoader(),
                new Class<?>[] {ServletRequest.class},
                (proxy, method, arguments) -> values.get((String) arguments[0])));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " 1", "1 ", "-1", "2147483648", "1e3", "0x1", "1;DROP TABLE users", "١٢a"})
    void anIdIsAWholeNumber(String value) {
        assertThrows(BadParameter.class, () -> of(Map.of("storyId", value)).id("storyId"));
    }

    @Test
    void aMissingNumberIsRefusedUnlessItHasADefault() {
        BadParameter bad = assertThrows(BadParameter.class, () -> of(Map.of()).number("type", 0, 2));
        assertEquals("the parameter type must be a whole number from 0 to 2.", bad.getMessage());
        assertEquals(new Slice(0, 25), of(Map.of()).slice());
        assertEquals(new Slice(3, 20), of(Map.of("page", "3", "nbOfStories", "20")).slice());
        assertThrows(BadParameter.class, () -> of(Map.of("nbOfStories", "101")).slice());
    }

    @Test
    void aTextMustFitItsColumnInCharacters() {
        String pairs = "𝄞".repeat(20);
        assertEquals(pairs, of(Map.of("nickname", pairs)).text("nickname", 20));
        assertThrows(BadParameter.class, () -> of(Map.of("nickname", pairs + "x")).text("nickname", 20));
        assertThrows(BadParameter.class, () -> of(Map.of("nickname", "  ")).text("nickname", 20));
        assertThrows(BadParameter.class, () -> of(Map.of("nickname", "a\0")).text("nickname", 20));
        assertEquals("", of(Map.of()).optionalText("nickname", 20));
    }

    @Test
    void onlyTheTwoCommentTablesAreTables() {
        assertEquals(Age.OLD, of(Map.of("comment_table", "old_comments")).commentTable());
        assertThrows(BadParameter.class, () -> of(Map.of("comment_table", "users")).commentTable());
        assertThrows(BadParameter.class, () -> of(Map.of()).commentTable());
    }

    @Test
    void aDayIsOneOfTheCalendar() {
        assertEquals(
                LocalDate.of(2024, 2, 29),
                of(Map.of("day", "29", "month", "2", "year", "2024")).day());
        assertThrows(
                BadParameter.class, () -> of(Map.of("day", "30", "month", "2", "year", "2024")).day());
    }
}
