package org.tierlab.rubbos.page;

import java.sql.SQLException;
import org.tierlab.rubbos.Settings;
import org.tierlab.rubbos.data.Age;
import org.tierlab.rubbos.data.Comments;
import org.tierlab.rubbos.data.Comments.Comment;
import org.tierlab.rubbos.data.Database;
import org.tierlab.rubbos.html.Html.Option;
import org.tierlab.rubbos.html.Link;

/** A comment with the form that rates it. */
final class ModerateComment extends Page {
    ModerateComment(Database database, Settings settings) {
        super(database, settings, "Moderate a comment");
    }

    @Override
    void render(Exchange exchange) throws SQLException {
        Age age = exchange.parameters().commentTable();
        int id = exchange.parameters().id("commentId");
        Comment comment = Comments.byId(exchange.sql(), age, id)
                .orElseThrow(() -> new Sorry("that comment does not exist."));
        exchange.html()
                .markup("<h2>%</h2>\n<p>by % on %, rated %</p>\n<p>%</p>\n",
                        comment.subject(), comment.author().orElse(""), comment.date(),
                        comment.rating(), comment.text())
                .markup("<form action=\"%\" method=\"post\">\n", Link.to("StoreModeratorLog"))
                .hidden("comment_table", age.comments())
                .hidden("commentId", id)
                .field("Nickname", "nickname", "text")
                .field("Password", "password", "password")
                .select("Rating", "rating",
                        new Option(0, "no change"), new Option(-1, "worse"), new Option(1, "better"))
                .markup("<p><button>Rate it</button></p>\n</form>\n");
    }
}
