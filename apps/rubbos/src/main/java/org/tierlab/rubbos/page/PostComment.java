package org.tierlab.rubbos.page;

import org.tierlab.rubbos.Settings;
import org.tierlab.rubbos.data.Age;
import org.tierlab.rubbos.data.Database;
import org.tierlab.rubbos.html.Link;

/** The form for a comment; it asks nothing of the database. */
final class PostComment extends Page {
    PostComment(Database database, Settings settings) {
        super(database, settings, "Post a comment");
    }

    @Override
    void render(Exchange exchange) {
        Age age = exchange.parameters().commentTable();
        int story = exchange.parameters().id("storyId");
        int parent = exchange.parameters().id("parent");
        exchange.html()
                .markup("<form action=\"%\" method=\"post\">\n", Link.to("StoreComment"))
                .hidden("comment_table", age.comments())
                .hidden("storyId", story)
                .hidden("parent", parent)
                .field("Nickname", "nickname", "text")
                .field("Password", "password", "password")
                .field("Subject", "subject", "text")
                .markup("<p><label>Comment <textarea name=\"body\"></textarea></label></p>\n")
                .markup("<p><button>Post it</button></p>\n</form>\n");
    }
}
