package org.tierlab.rubbos;

import com.zaxxer.hikari.pool.HikariPool.PoolInitializationException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.apache.catalina.LifecycleException;
import org.tierlab.rubbos.data.Database;
import org.tierlab.rubbos.soft.Control;
import org.tierlab.rubbos.soft.Gauges;
import org.tierlab.rubbos.soft.SoftResource;

/**
 * Runs the application in its own Tomcat until SIGTERM or SIGINT. Prints {@code {"ready":true}} on
 * stdout once every connector answers; a failure to start is one sentence on stderr and status 1.
 */
public final class Main {
    private Main() {}

    public static void main(String[] arguments) {
        try {
            if (arguments.length > 0) {
                throw new SettingsException(
                        "arguments are not taken; name a settings file by -Drubbos.config=FILE");
            }
            run(Settings.fromSystem());
        } catch (SettingsException e) {
            fail(e.getMessage());
        } catch (PoolInitializationException e) {
            fail("cannot connect to the database: " + root(e).getMessage());
        } catch (LifecycleException | IOException e) {
            fail("cannot start: " + root(e).getMessage());
        }
    }

    private static void run(Settings settings) throws IOException, LifecycleException {
        if (settings.ajp().isEmpty() && settings.http().isEmpty()) {
            throw new SettingsException("neither ajp.port nor http.port is set; set at least one");
        }
        Database database = new Database(settings);
        EmbeddedServer server = new EmbeddedServer(settings, database);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(server), "shutdown"));
        server.start();
        exposeSoftResources(settings, server, database);
        System.out.println("{\"ready\":true}");
        server.await();
    }

    private static void exposeSoftResources(
            Settings settings, EmbeddedServer server, Database database) throws IOException {
        List<SoftResource> resources = new ArrayList<>(server.softResources());
        resources.add(database.connections());
        if (settings.softLog().isPresent()) {
            Gauges.start(resources, settings.softLog().get());
        }
        if (settings.softSocket().isPresent()) {
            Control.start(resources, settings.softSocket().get());
        }
    }

    private static void stop(EmbeddedServer server) {
        try {
            server.stop();
        } catch (LifecycleException | InterruptedException e) {
            Logger.getLogger(Main.class.getName()).log(Level.WARNING, "the stop failed", e);
        }
    }

    private static Throwable root(Throwable failure) {
        Throwable cause = failure;
        while (cause.getCause() != null) {
            cause = cause.getCause();
        }
        return cause;
    }

    /** Ends the process at once: a half-started Tomcat has threads that would keep it. */
    private static void fail(String sentence) {
        System.err.println("rubbos: " + sentence);
        Runtime.getRuntime().halt(1);
    }
}
