package org.tierlab.rubbos.page;

import java.sql.SQLException;
import org.tierlab.rubbos.Settings;
import org.tierlab.rubbos.data.Comments;
import org.tierlab.rubbos.data.Comments.Found;
import org.tierlab.rubbos.data.Database;
import org.tierlab.rubbos.data.Stories;
import org.tierlab.rubbos.data.Stories.Headline;
import org.tierlab.rubbos.data.Stories.Slice;
import org.tierlab.rubbos.html.Html;
import org.tierlab.rubbos.html.Html.Option;
import org.tierlab.rubbos.html.Link;

/** Stories, comments or authors that begin with a text; without one, the form that asks for it. */
final class Search extends Page {
    private static final int STORIES = 0;
    private static final int COMMENTS = 1;
    private static final int USERS = 2;

    private static final String NOTHING = "nothing was found on this page of the search.";

    Search(Database database, Settings settings) {
        super(database, settings, "Search");
    }

    @Override
    void render(Exchange exchange) throws SQLException {
        Parameters parameters = exchange.parameters();
        if (parameters.has("search") || parameters.has("type")) {
            int type = parameters.number("type", STORIES, USERS);
            String words = parameters.text("search", 100);
            Slice slice = parameters.slice();
            int rows = type == COMMENTS
                    ? comments(exchange, words, slice)
                    : stories(exchange, type, words, slice);
            Link list = Link.to("Search").with("search", words).with("type", type);
            Listing.neighbours(exchange.html(), list, slice, rows);
        }
        exchange.html()
                .markup("<form action=\"%\" method=\"get\">\n", Link.to("Search"))
                .field("Begins with", "search", "text")
                .select("In", "type",
                        new Option(STORIES, "stories"),
                        new Option(COMMENTS, "comments"),
                        new Option(USERS, "authors"))
                .markup("<p><button>Search</button></p>\n</form>\n");
    }

    private static int stories(Exchange exchange, int type, String words, Slice slice)
            throws SQLException {
        Listing.Result<Headline> found = Listing.newElseOld(
                age -> type == STORIES
                        ? Stories.titled(exchange.sql(), age, words, slice)
                        : Stories.writtenBy(exchange.sql(), age, words, slice),
                NOTHING);
        Listing.headlines(exchange.html(), found.rows());
        return found.rows().size();
    }

    private static int comments(Exchange exchange, String words, Slice slice) throws SQLException {
        Listing.Result<Found> found = Listing.newElseOld(
                age -> Comments.titled(exchange.sql(), age, words, slice), NOTHING);
        Html html = exchange.html().markup("<ul>\n");
        for (Found comment : found.rows()) {
            Link link = Discussion.view(found.age(), comment.storyId(), comment.id(), 0, 0);
            html.markup("<li>").link(link, comment.subject());
            html.markup("by % on %</li>\n", comment.author(), comment.date());
        }
        html.markup("</ul>\n");
        return found.rows().size();
    }
}
