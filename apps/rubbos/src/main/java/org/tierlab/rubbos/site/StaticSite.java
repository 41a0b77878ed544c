package org.tierlab.rubbos.site;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.tierlab.rubbos.html.Html;
import org.tierlab.rubbos.html.Layout;
import org.tierlab.rubbos.html.Link;

/** Writes the static pages and the logo; the build runs it. */
public final class StaticSite {
    private StaticSite() {}

    public static void main(String[] arguments) throws IOException {
        Path folder = Path.of(arguments[0]);
        Files.createDirectories(folder.resolve("images"));
        Files.write(folder.resolve("images/logo.png"), Logo.png());
        write(folder.resolve("register.html"), register());
        write(folder.resolve("browse.html"), browse());
        write(folder.resolve("author.html"), author());
    }

    private static void write(Path file, Html page) throws IOException {
        Files.writeString(file, Layout.end(page).toString(), StandardCharsets.UTF_8);
    }

    static Html register() {
        return Layout.begin("Register")
                .markup("<form action=\"%\" method=\"post\">\n", Link.to("RegisterUser"))
                .field("First name", "firstname", "text")
                .field("Last name", "lastname", "text")
                .field("Nickname", "nickname", "text")
                .field("Email", "email", "email")
                .field("Password", "password", "password")
                .markup("<p><button>Register</button></p>\n</form>\n");
    }

    static Html browse() {
        return Layout.begin("Browse")
                .link(Link.to("BrowseCategories"), "Stories by category")
                .link(Link.to("OlderStories"), "Older stories");
    }

    static Html author() {
        return Layout.begin("Author login")
                .markup("<form action=\"%\" method=\"post\">\n", Link.to("Author"))
                .field("Nickname", "nickname", "text")
                .field("Password", "password", "password")
                .markup("<p><button>Log in</button></p>\n</form>\n");
    }
}
