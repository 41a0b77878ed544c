package org.tierlab.rubbos;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Properties;
import org.junit.jupiter.api.Test;
import org.tierlab.rubbos.Settings.Endpoint;

class SettingsTest {
    private static Properties properties(String... pairs) {
        Properties properties = new Properties();
        for (int i = 0; i < pairs.length; i += 2) {
            properties.setProperty(pairs[i], pairs[i + 1]);
        }
        return properties;
    }

    private static String refusal(String... pairs) {
        return assertThrows(
                        SettingsException.class, () -> Settings.of(properties(pairs), properties()))
                .getMessage();
    }

    @Test
    void systemPropertiesOverrideTheFile() {
        Settings settings = Settings.of(
                properties("pool.size", "3", "threads.max", " 7 "),
                properties("rubbos.pool.size", "4", "rubbos.config", "x", "java.version", "17"));
        assertEquals(4, settings.poolSize());
        assertEquals(7, settings.maxThreads());
        assertEquals(100, settings.acceptCount());
    }

    @Test
    void aConnectorWithoutPortIsOff() {
        Settings settings = Settings.of(properties("ajp.port", "8009", "ajp.secret", "s"), properties());
        assertEquals(new Endpoint("127.0.0.1", 8009, "s"), settings.ajp().orElseThrow());
        assertTrue(settings.http().isEmpty());
        assertTrue(settings.accessLog().isEmpty());
    }

    @Test
    void refusalsNameTheKeyAndWhatIsAllowed() {
        assertTrue(refusal("pol.size", "3").startsWith("unknown setting \"pol.size\""));
        assertEquals(
                "pool.size is \"many\"; it must be a whole number from 1 to 10000",
                refusal("pool.size", "many"));
        assertEquals(
                "ajp.port is \"70000\"; it must be a whole number from 1 to 65535",
                refusal("ajp.port", "70000"));
        assertEquals(
                "comments.page is \"0\"; it must be a whole number from 1 to 1000",
                refusal("comments.page", "0"));
        assertEquals(
                "fidelity is \"exact\"; it must be \"corrected\" or \"published\"",
                refusal("fidelity", "exact"));
    }
}
