package org.tierlab.rubbos;

import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.apache.catalina.Context;
import org.apache.catalina.LifecycleException;
import org.apache.catalina.Valve;
import org.apache.catalina.Wrapper;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.servlets.DefaultServlet;
import org.apache.catalina.startup.Tomcat;
import org.apache.catalina.valves.AccessLogValve;
import org.apache.catalina.valves.ErrorReportValve;
import org.apache.coyote.AbstractProtocol;
import org.apache.coyote.ajp.AbstractAjpProtocol;
import org.apache.tomcat.util.modeler.Registry;
import org.tierlab.rubbos.Settings.Endpoint;
import org.tierlab.rubbos.data.Database;
import org.tierlab.rubbos.html.Link;
import org.tierlab.rubbos.soft.OpenConnections;
import org.tierlab.rubbos.soft.SoftResource;
import org.tierlab.rubbos.soft.WorkerThreads;

/** Tomcat with the application in it, its connectors and its access log as the settings say. */
final class EmbeddedServer {
    /** Start in ms of the epoch, request id, status, duration in µs, body bytes, request line. */
    private static final String LOG_PATTERN = "%{begin:msec}t %{X-Request-Id}i %s %D %B \"%m %U %H\"";

    /** How long a stop waits for requests in progress. */
    private static final long DRAIN_NS = 5_000_000_000L;

    private static final long POLL_MS = 10;

    static {
        // Nobody asks for its management beans, whose descriptions take long to be read.
        Registry.disableRegistry();
    }

    private final Tomcat tomcat = new Tomcat();

    EmbeddedServer(Settings settings, Database database) throws IOException {
        tomcat.setBaseDir(workDir(settings).toString());
        settings.ajp().ifPresent(endpoint -> listen(ajp(endpoint), endpoint, settings));
        settings.http().ifPresent(
                endpoint -> listen(new Connector("HTTP/1.1"), endpoint, settings));
        settings.accessLog().ifPresent(file -> addValve(accessLog(file)));
        addValve(terseErrors());
        Context context = tomcat.addContext(
                Link.BASE, settings.staticDir().map(Path::toString).orElse(null));
        settings.staticDir().ifPresent(folder -> serveFiles(context));
        context.addServletContainerInitializer(new Application(settings, () -> database), Set.of());
    }

    void start() throws LifecycleException {
        tomcat.start();
    }

    /** Blocks until the server is stopped; Tomcat's own threads would not keep the process. */
    void await() {
        tomcat.getServer().await();
    }

    /** Lets the requests in progress end, flushes the access log, closes the pool. */
    void stop() throws LifecycleException, InterruptedException {
        for (Connector connector : tomcat.getService().findConnectors()) {
            connector.pause();
        }
        // Tomcat's own graceful stop waits for connections to close; a gateway keeps its open.
        long end = System.nanoTime() + DRAIN_NS;
        while (isBusy() && System.nanoTime() < end) {
            Thread.sleep(POLL_MS);
        }
        tomcat.stop();
        tomcat.destroy();
    }

    private boolean isBusy() {
        return new WorkerThreads(protocols()).inUse() > 0;
    }

    /** The connectors' threads and connections, once the server runs. */
    List<SoftResource> softResources() {
        return List.of(new WorkerThreads(protocols()), new OpenConnections(protocols()));
    }

    private List<AbstractProtocol<?>> protocols() {
        return Arrays.stream(tomcat.getService().findConnectors())
                .<AbstractProtocol<?>>map(
                        connector -> (AbstractProtocol<?>) connector.getProtocolHandler())
                .toList();
    }

    private static Path workDir(Settings settings) throws IOException {
        return settings.workDir().isPresent()
                ? Files.createDirectories(settings.workDir().get())
                : Files.createTempDirectory("rubbos");
    }

    private static Connector ajp(Endpoint endpoint) {
        Connector connector = new Connector("AJP/1.3");
        AbstractAjpProtocol<?> protocol = (AbstractAjpProtocol<?>) connector.getProtocolHandler();
        if (endpoint.secret().isEmpty()) {
            protocol.setSecretRequired(false);
        } else {
            protocol.setSecret(endpoint.secret());
        }
        return connector;
    }

    private void listen(Connector connector, Endpoint endpoint, Settings settings) {
        AbstractProtocol<?> protocol = (AbstractProtocol<?>) connector.getProtocolHandler();
        try {
            protocol.setAddress(InetAddress.getByName(endpoint.address()));
        } catch (UnknownHostException e) {
            throw new SettingsException("unknown address \"" + endpoint.address() + "\"");
        }
        protocol.setMaxThreads(settings.maxThreads());
        protocol.setMinSpareThreads(Math.min(protocol.getMinSpareThreads(), settings.maxThreads()));
        protocol.setAcceptCount(settings.acceptCount());
        protocol.setMaxConnections(settings.maxConnections());
        connector.setPort(endpoint.port());
        connector.setThrowOnFailure(true);
        tomcat.getService().addConnector(connector);
    }

    private void addValve(Valve valve) {
        tomcat.getHost().getPipeline().addValve(valve);
    }

    private static AccessLogValve accessLog(Path file) {
        AccessLogValve valve = new AccessLogValve();
        valve.setDirectory(file.getParent().toString());
        valve.setPrefix(file.getFileName().toString());
        valve.setSuffix("");
        valve.setRotatable(false);
        valve.setPattern(LOG_PATTERN);
        return valve;
    }

    /** Tomcat's own error pages without stack traces and version. */
    private static ErrorReportValve terseErrors() {
        ErrorReportValve valve = new ErrorReportValve();
        valve.setShowReport(false);
        valve.setShowServerInfo(false);
        return valve;
    }

    private static void serveFiles(Context context) {
        Wrapper files = Tomcat.addServlet(context, "files", new DefaultServlet());
        files.setLoadOnStartup(1);
        context.addServletMappingDecoded("/", "files");
        context.addMimeMapping("html", "text/html;charset=utf-8");
        context.addMimeMapping("png", "image/png");
    }
}
