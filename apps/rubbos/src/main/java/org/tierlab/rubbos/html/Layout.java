package org.tierlab.rubbos.html;

/** What every page has, static or dynamic: the header with its links and logo, and the footer. */
public final class Layout {
    private Layout() {}

    /** A page with its header; the image tag is upper-case because the published client looks for that. */
    public static Html begin(String title) {
        Html html = new Html();
        html.markup("""
                <!DOCTYPE html>
                <html lang="en">
                <head><meta charset="utf-8"><title>RUBBoS: %</title></head>
                <body>
                <header>
                <IMG SRC="/rubbos/images/logo.png" alt="RUBBoS" width="120" height="60">
                <nav>
                """, title);
        html.link(Link.to("StoriesOfTheDay"), "Home");
        html.markup("""
                <a href="/rubbos/register.html">Register</a>
                <a href="/rubbos/browse.html">Browse</a>
                """);
        html.link(Link.to("Search"), "Search");
        html.link(Link.to("SubmitStory"), "Submit a story");
        html.markup("""
                <a href="/rubbos/author.html">Author</a>
                </nav>
                </header>
                <main>
                <h1>%</h1>
                """, title);
        return html;
    }

    public static Html end(Html html) {
        return html.markup("</main>\n</body>\n</html>\n");
    }

    /** The footer of a dynamic page, with the time the page took at the server. */
    public static Html end(Html html, long nanoseconds) {
        html.markup("<footer>Page made in % ms</footer>\n", nanoseconds / 1_000 / 1_000.0);
        return end(html);
    }
}
