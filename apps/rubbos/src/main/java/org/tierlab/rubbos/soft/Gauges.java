package org.tierlab.rubbos.soft;

import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.util.List;
import java.util.OptionalInt;
import java.util.logging.Level;
import java.util.logging.Logger;

/**
 * Writes the use of soft resources to a file, one line at each whole tenth of a second: nanoseconds
 * since the epoch, then for each resource {@code name=in use/waiting/limit}, {@code -} for what is
 * not known. Ticks that were missed are left out, so that a stop of the process is a gap.
 */
public final class Gauges implements Runnable {
    private static final long INTERVAL_MS = 100;

    private final List<SoftResource> resources;
    private final BufferedWriter file;
    private final StringBuilder line = new StringBuilder(128);

    private Gauges(List<SoftResource> resources, BufferedWriter file) {
        this.resources = resources;
        this.file = file;
    }

    /** Starts a thread that ends with the process. */
    public static void start(List<SoftResource> resources, Path file) throws IOException {
        Thread thread = new Thread(
                new Gauges(resources, Files.newBufferedWriter(file)), "soft-gauges");
        thread.setDaemon(true);
        thread.start();
    }

    @Override
    public void run() {
        try (file) {
            while (true) {
                Thread.sleep(INTERVAL_MS - System.currentTimeMillis() % INTERVAL_MS);
                write();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (IOException e) {
            Logger.getLogger(Gauges.class.getName()).log(Level.WARNING, "no gauges any more", e);
        }
    }

    private void write() throws IOException {
        Instant now = Clock.systemUTC().instant();
        line.setLength(0);
        line.append(now.getEpochSecond() * 1_000_000_000L + now.getNano());
        for (SoftResource resource : resources) {
            line.append(' ').append(resource.name()).append('=').append(resource.inUse()).append('/');
            OptionalInt waiting = resource.waiting();
            if (waiting.isPresent()) {
                line.append(waiting.getAsInt());
            } else {
                line.append('-');
            }
            line.append('/').append(resource.limit());
        }
        file.append(line.append('\n')).flush();
    }
}
