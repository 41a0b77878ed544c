package org.tierlab.rubbos;

import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.TreeMap;

/**
 * The application's settings: a properties file whose keys are those of {@link #DEFAULTS},
 * each overridden by the system property {@code rubbos.<key>}.
 */
public final class Settings {
    private static final String PREFIX = "rubbos.";
    private static final String FILE = PREFIX + "config";

    /** Every key with its default; an empty value means "off" or "none". */
    private static final Map<String, String> DEFAULTS = Map.ofEntries(
            Map.entry("ajp.address", "127.0.0.1"),
            Map.entry("ajp.port", ""),
            Map.entry("ajp.secret", ""),
            Map.entry("http.address", "127.0.0.1"),
            Map.entry("http.port", ""),
            Map.entry("threads.max", "200"),
            Map.entry("accept.count", "100"),
            Map.entry("connections.max", "8192"),
            Map.entry("jdbc.url", "jdbc:mariadb://127.0.0.1:3306/rubbos"),
            Map.entry("jdbc.user", "rubbos"),
            Map.entry("jdbc.password", ""),
            Map.entry("pool.size", "20"),
            Map.entry("pool.timeout.ms", "30000"),
            Map.entry("access.log", ""),
            Map.entry("soft.log", ""),
            Map.entry("soft.socket", ""),
            Map.entry("work.dir", ""),
            Map.entry("static.dir", ""),
            Map.entry("fidelity", "corrected"),
            Map.entry("comments.page", "25"),
            Map.entry("comments.nested", "100"));

    private final Map<String, String> values;

    private Settings(Map<String, String> values) {
        this.values = values;
        refuseUnusable();
    }

    /** Reads every checked setting once, so that a bad one shows at the start and not in a page. */
    private void refuseUnusable() {
        ajp();
        http();
        maxThreads();
        acceptCount();
        maxConnections();
        poolSize();
        poolTimeoutMs();
        fidelity();
        commentsPerPage();
        nestedPerPage();
    }

    /** Settings from the system properties alone, and the file that {@code rubbos.config} names. */
    public static Settings fromSystem() {
        String file = System.getProperty(FILE);
        return of(file == null ? new Properties() : read(Path.of(file)), System.getProperties());
    }

    static Settings of(Properties file, Properties system) {
        Map<String, String> values = new TreeMap<>(DEFAULTS);
        for (String key : file.stringPropertyNames()) {
            put(values, key, file.getProperty(key));
        }
        for (String name : system.stringPropertyNames()) {
            if (name.startsWith(PREFIX) && !name.equals(FILE)) {
                put(values, name.substring(PREFIX.length()), system.getProperty(name));
            }
        }
        return new Settings(values);
    }

    private static void put(Map<String, String> values, String key, String value) {
        if (values.replace(key, value.strip()) == null) {
            throw new SettingsException(
                    "unknown setting \"" + key + "\"; the settings are " + values.keySet());
        }
    }

    private static Properties read(Path file) {
        Properties properties = new Properties();
        try (Reader reader = Files.newBufferedReader(file)) {
            properties.load(reader);
        } catch (IOException | IllegalArgumentException e) {
            throw new SettingsException("cannot read the settings file " + file + ": " + e.getMessage());
        }
        return properties;
    }

    /** A connector's socket and its AJP secret, if it has one. */
    public record Endpoint(String address, int port, String secret) {}

    public Optional<Endpoint> ajp() {
        return endpoint("ajp", values.get("ajp.secret"));
    }

    public Optional<Endpoint> http() {
        return endpoint("http", "");
    }

    private Optional<Endpoint> endpoint(String name, String secret) {
        if (values.get(name + ".port").isEmpty()) {
            return Optional.empty();
        }
        int port = number(name + ".port", 1, 65_535);
        return Optional.of(new Endpoint(values.get(name + ".address"), port, secret));
    }

    public int maxThreads() {
        return number("threads.max", 1, 100_000);
    }

    public int acceptCount() {
        return number("accept.count", 1, 1_000_000);
    }

    public int maxConnections() {
        return number("connections.max", 1, 1_000_000);
    }

    public String jdbcUrl() {
        return values.get("jdbc.url");
    }

    public String jdbcUser() {
        return values.get("jdbc.user");
    }

    public String jdbcPassword() {
        return values.get("jdbc.password");
    }

    public int poolSize() {
        return number("pool.size", 1, 10_000);
    }

    /** How long a request waits for a connection of the pool; HikariCP's least is 250 ms. */
    public int poolTimeoutMs() {
        return number("pool.timeout.ms", 250, 3_600_000);
    }

    public Optional<Path> accessLog() {
        return path("access.log");
    }

    /** Where the use of threads, connections and pool is written ten times a second. */
    public Optional<Path> softLog() {
        return path("soft.log");
    }

    /** The UNIX socket on which orders to resize them are taken. */
    public Optional<Path> softSocket() {
        return path("soft.socket");
    }

    public Optional<Path> workDir() {
        return path("work.dir");
    }

    public Optional<Path> staticDir() {
        return path("static.dir");
    }

    public Fidelity fidelity() {
        return Fidelity.parse(values.get("fidelity"));
    }

    /** Top-level comments a page lists in the corrected form. */
    public int commentsPerPage() {
        return number("comments.page", 1, 1_000);
    }

    /** Nested comments that a page lists at most, over all its threads, in the corrected form. */
    public int nestedPerPage() {
        return number("comments.nested", 0, 10_000);
    }

    private Optional<Path> path(String key) {
        String value = values.get(key);
        return value.isEmpty() ? Optional.empty() : Optional.of(Path.of(value).toAbsolutePath());
    }

    private int number(String key, int least, int most) {
        String value = values.get(key);
        try {
            int number = Integer.parseInt(value);
            if (number >= least && number <= most) {
                return number;
            }
        } catch (NumberFormatException e) {
            // Falls through: the sentence below is the same for both.
        }
        throw new SettingsException(key + " is \"" + value + "\"; it must be a whole number from "
                + least + " to " + most);
    }
}
