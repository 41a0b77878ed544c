package org.tierlab.rubbos.page;

import java.sql.SQLException;
import java.util.List;
import org.tierlab.rubbos.Fidelity;
import org.tierlab.rubbos.data.Age;
import org.tierlab.rubbos.data.Comments;
import org.tierlab.rubbos.data.Comments.Comment;
import org.tierlab.rubbos.data.Comments.RatingCount;
import org.tierlab.rubbos.data.Users;
import org.tierlab.rubbos.html.Html;
import org.tierlab.rubbos.html.Html.Option;
import org.tierlab.rubbos.html.Link;

/**
 * The comments below a story or a comment. As published, each comment that has replies costs one
 * statement more, because that is what makes these pages heavy for the database.
 */
final class Discussion {
    /** How replies are shown below the listed comments. */
    enum Display {
        MAIN_THREADS,
        NESTED_TITLES,
        EVERYTHING;

        static Display of(Parameters parameters) {
            return values()[parameters.number("display", 0, values().length - 1, 0)];
        }
    }

    private final Exchange exchange;
    private final Html html;
    private final Age age;
    private final int story;
    private final int filter;
    private final Display display;
    private int nestedLeft;

    Discussion(Exchange exchange, Age age, int story, int filter, Display display) {
        this.exchange = exchange;
        this.html = exchange.html();
        this.age = age;
        this.story = story;
        this.filter = filter;
        this.display = display;
        this.nestedLeft = exchange.settings().nestedPerPage();
    }

    static Link view(Age age, int story, int comment, int filter, int display) {
        return Link.to("ViewComment")
                .with("comment_table", age.comments())
                .with("storyId", story)
                .with("commentId", comment)
                .with("filter", filter)
                .with("display", display);
    }

    static Link post(Age age, int story, int parent) {
        return Link.to("PostComment")
                .with("comment_table", age.comments())
                .with("storyId", story)
                .with("parent", parent);
    }

    /** The form that filters by rating, its choices with the number of comments of each rating. */
    void filterForm(int comment) throws SQLException {
        List<RatingCount> counts = Comments.countsByRating(exchange.sql(), age, story);
        Option[] ratings = counts.stream()
                .map(count -> new Option(
                        count.rating(), count.rating() + " and better: " + count.count() + " comments"))
                .toArray(Option[]::new);
        html.markup("<form action=\"%\" method=\"get\">\n", Link.to("ViewComment"))
                .hidden("comment_table", age.comments())
                .hidden("storyId", story)
                .hidden("commentId", comment)
                .select("Rated", "filter", ratings)
                .select("Show", "display",
                        new Option(Display.MAIN_THREADS.ordinal(), "main threads"),
                        new Option(Display.NESTED_TITLES.ordinal(), "nested titles"),
                        new Option(Display.EVERYTHING.ordinal(), "everything"))
                .markup("<p><button>Refresh</button></p>\n</form>\n");
    }

    /** Lists a page of the comments below {@code parent} with their replies; returns how many it lists. */
    int list(int parent, int page) throws SQLException {
        List<Comment> comments = published()
                ? Comments.allBelow(exchange.sql(), age, story, parent, filter)
                : corrected(parent, page);
        for (Comment comment : comments) {
            full(comment);
            if (display != Display.MAIN_THREADS && comment.childs() > 0) {
                replies(comment);
            }
        }
        if (!published()) {
            neighbours(parent, page, comments.size());
        }
        return comments.size();
    }

    private boolean published() {
        return exchange.settings().fidelity() == Fidelity.PUBLISHED;
    }

    private List<Comment> corrected(int parent, int page) throws SQLException {
        int size = exchange.settings().commentsPerPage();
        return Comments.below(
                exchange.sql(), age, story, parent, filter, size, (long) page * size);
    }

    private void neighbours(int parent, int page, int rows) {
        Link here = view(age, story, parent, filter, display.ordinal());
        html.markup("<p>");
        if (page > 0) {
            html.link(here.with("page", page - 1), "Previous page");
        }
        if (rows == exchange.settings().commentsPerPage()) {
            html.link(here.with("page", page + 1), "Next page");
        }
        html.markup("</p>\n");
    }

    /** As published, replies of replies are not shown: its query forgot the column that tells of them. */
    private void replies(Comment parent) throws SQLException {
        List<Comment> replies;
        if (published()) {
            replies = Comments.allBelow(exchange.sql(), age, story, parent.id(), filter);
        } else if (nestedLeft > 0) {
            replies = Comments.below(
                    exchange.sql(), age, story, parent.id(), filter, nestedLeft, 0);
            nestedLeft -= replies.size();
        } else {
            return;
        }
        html.markup("<ul>\n");
        for (Comment reply : replies) {
            html.markup("<li>");
            if (display == Display.EVERYTHING) {
                full(reply);
            } else {
                html.link(self(reply), reply.subject());
                html.markup("by % on %\n", author(reply), reply.date());
            }
            if (!published() && reply.childs() > 0) {
                replies(reply);
            }
            html.markup("</li>\n");
        }
        html.markup("</ul>\n");
    }

    /** A comment with its text and its links. */
    void full(Comment comment) throws SQLException {
        html.markup("<article>\n<h3>").link(self(comment), comment.subject());
        html.markup("</h3>\n<p>by % on %, rated %</p>\n<p>%</p>\n<p>",
                author(comment), comment.date(), comment.rating(), comment.text());
        html.link(post(age, story, comment.id()), "Reply");
        if (comment.parent() != Comments.TOP) {
            html.link(view(age, story, comment.parent(), filter, display.ordinal()), "Parent");
        }
        html.link(
                Link.to("ModerateComment")
                        .with("comment_table", age.comments())
                        .with("commentId", comment.id()),
                "Moderate");
        html.markup("</p>\n</article>\n");
    }

    private Link self(Comment comment) {
        return view(age, story, comment.id(), filter, display.ordinal());
    }

    private String author(Comment comment) throws SQLException {
        return comment.author().isPresent()
                ? comment.author().get()
                : Users.nickname(exchange.sql(), comment.writer());
    }
}
