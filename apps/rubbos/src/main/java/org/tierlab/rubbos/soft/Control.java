package org.tierlab.rubbos.soft;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.Channels;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Collection;
import java.util.Map;
import java.util.function.Function;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.stream.Collectors;

/**
 * Takes orders to resize soft resources over a UNIX socket, from its owner and root only. A line is
 * an order, a line is its answer (see {@link Orders}). What a connection has changed is put back
 * when it ends, however it ends.
 */
public final class Control implements Runnable {
    private final Map<String, SoftResource> resources;
    private final ServerSocketChannel server;

    private Control(Collection<? extends SoftResource> resources, ServerSocketChannel server) {
        this.resources =
                resources.stream().collect(Collectors.toMap(SoftResource::name, Function.identity()));
        this.server = server;
    }

    /** Listens until the process ends. */
    public static void start(Collection<? extends SoftResource> resources, Path socket)
            throws IOException {
        Files.deleteIfExists(socket);
        ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        server.bind(UnixDomainSocketAddress.of(socket));
        Files.setPosixFilePermissions(socket, PosixFilePermissions.fromString("rw-------"));
        daemon(new Control(resources, server), "soft-control");
    }

    @Override
    public void run() {
        try (server) {
            while (true) {
                SocketChannel client = server.accept();
                daemon(() -> serve(client), "soft-order");
            }
        } catch (IOException e) {
            warn("no orders are taken any more", e);
        }
    }

    private void serve(SocketChannel client) {
        Orders orders = new Orders(resources);
        try (client;
                BufferedReader in = new BufferedReader(
                        Channels.newReader(client, StandardCharsets.US_ASCII));
                Writer out = Channels.newWriter(client, StandardCharsets.US_ASCII)) {
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                out.write(orders.answer(line) + "\n");
                out.flush();
            }
        } catch (IOException e) {
            warn("a connection of the control broke", e);
        } finally {
            orders.undo();
        }
    }

    private static void daemon(Runnable task, String name) {
        Thread thread = new Thread(task, name);
        thread.setDaemon(true);
        thread.start();
    }

    private static void warn(String what, IOException e) {
        Logger.getLogger(Control.class.getName()).log(Level.WARNING, what, e);
    }
}
