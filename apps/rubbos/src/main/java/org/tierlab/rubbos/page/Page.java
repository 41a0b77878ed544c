package org.tierlab.rubbos.page;

import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.tierlab.rubbos.Settings;
import org.tierlab.rubbos.data.Database;
import org.tierlab.rubbos.html.Html;
import org.tierlab.rubbos.html.Layout;

/**
 * A dynamic page. The whole page is made, and the connection given back, before the first byte
 * goes out, so that a slow reader holds no connection and a failure leaves no half page.
 */
abstract class Page extends HttpServlet {
    private static final Logger LOG = Logger.getLogger(Page.class.getName());

    private final transient Database database;
    private final transient Settings settings;
    private final String title;

    Page(Database database, Settings settings, String title) {
        this.database = database;
        this.settings = settings;
        this.title = title;
    }

    /** Writes the page's content; throws {@link Sorry} where there is none. */
    abstract void render(Exchange exchange) throws SQLException;

    @Override
    protected final void doGet(HttpServletRequest request, HttpServletResponse response)
            throws IOException {
        long start = System.nanoTime();
        Html html = answer(request, response);
        byte[] bytes = Layout.end(html, System.nanoTime() - start).toString()
                .getBytes(StandardCharsets.UTF_8);
        response.setContentType("text/html;charset=UTF-8");
        response.setHeader("Cache-Control", "no-store");
        response.setContentLength(bytes.length);
        response.getOutputStream().write(bytes);
    }

    @Override
    protected final void doPost(HttpServletRequest request, HttpServletResponse response)
            throws IOException {
        doGet(request, response);
    }

    private Html answer(HttpServletRequest request, HttpServletResponse response) {
        Html html = Layout.begin(title);
        String requestId = RequestId.of(request.getHeader(RequestId.HEADER));
        try (Exchange exchange =
                new Exchange(database, settings, requestId, new Parameters(request), html)) {
            render(exchange);
            return html;
        } catch (Sorry sorry) {
            return Layout.begin(title).markup("<p>Sorry, %</p>\n", sorry.getMessage());
        } catch (BadParameter bad) {
            response.setStatus(HttpServletResponse.SC_BAD_REQUEST);
            return Layout.begin(title).markup("<p>Sorry, %</p>\n", bad.getMessage());
        } catch (SQLException failure) {
            // One line: an overloaded pool fails many requests a second.
            LOG.warning(() -> title + " failed, request id \"" + requestId + "\", SQLSTATE "
                    + failure.getSQLState() + ": " + failure.getMessage());
            return failed(response);
        } catch (RuntimeException failure) {
            LOG.log(Level.SEVERE, title + " failed, request id \"" + requestId + "\"", failure);
            return failed(response);
        }
    }

    private Html failed(HttpServletResponse response) {
        response.setStatus(HttpServletResponse.SC_INTERNAL_SERVER_ERROR);
        return Layout.begin(title).markup("<p>ERROR: the page could not be made.</p>\n");
    }
}
