package org.tierlab.rubbos.page;

import jakarta.servlet.Servlet;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import org.tierlab.rubbos.Settings;
import org.tierlab.rubbos.data.Database;

/** Every dynamic page under the name it has in its address. */
public final class Pages {
    private static final Map<String, BiFunction<Database, Settings, Servlet>> PAGES = Map.ofEntries(
            Map.entry("StoriesOfTheDay", StoriesOfTheDay::new),
            Map.entry("RegisterUser", RegisterUser::new),
            Map.entry("BrowseCategories", BrowseCategories::new),
            Map.entry("BrowseStoriesByCategory", BrowseStoriesByCategory::new),
            Map.entry("OlderStories", OlderStories::new),
            Map.entry("ViewStory", ViewStory::new),
            Map.entry("PostComment", PostComment::new),
            Map.entry("StoreComment", StoreComment::new),
            Map.entry("ViewComment", ViewComment::new),
            Map.entry("ModerateComment", ModerateComment::new),
            Map.entry("StoreModeratorLog", StoreModeratorLog::new),
            Map.entry("SubmitStory", SubmitStory::new),
            Map.entry("StoreStory", StoreStory::new),
            Map.entry("Search", Search::new),
            Map.entry("Author", Author::new),
            Map.entry("ReviewStories", ReviewStories::new),
            Map.entry("AcceptStory", AcceptStory::new),
            Map.entry("RejectStory", RejectStory::new));

    private Pages() {}

    /** Gives each page's name and servlet to {@code register}. */
    public static void forEach(
            Database database, Settings settings, BiConsumer<String, Servlet> register) {
        PAGES.forEach((name, make) -> register.accept(name, make.apply(database, settings)));
    }
}
