package org.tierlab.rubbos;

import jakarta.servlet.ServletContainerInitializer;
import jakarta.servlet.ServletContext;
import jakarta.servlet.ServletContextEvent;
import jakarta.servlet.ServletContextListener;
import jakarta.servlet.ServletRegistration;
import java.util.Set;
import java.util.function.Supplier;
import org.tierlab.rubbos.data.Database;
import org.tierlab.rubbos.page.Pages;

/** Puts the pages and their pool into a servlet container, embedded or not. */
public final class Application implements ServletContainerInitializer {
    private final Settings settings;
    private final Supplier<Database> database;

    /** For a container that finds this class through the WAR's service file. */
    public Application() {
        this.settings = Settings.fromSystem();
        this.database = () -> new Database(settings);
    }

    Application(Settings settings, Supplier<Database> database) {
        this.settings = settings;
        this.database = database;
    }

    @Override
    public void onStartup(Set<Class<?>> classes, ServletContext context) {
        Database opened = database.get();
        context.addListener(new ServletContextListener() {
            @Override
            public void contextDestroyed(ServletContextEvent event) {
                opened.close();
            }
        });
        context.setRequestCharacterEncoding("UTF-8");
        Pages.forEach(opened, settings, (name, servlet) -> {
            ServletRegistration.Dynamic registration = context.addServlet(name, servlet);
            registration.addMapping("/servlet/" + name);
            registration.setLoadOnStartup(1);
        });
    }
}
