import java.nio.file.Path;
import org.apache.catalina.startup.Tomcat;

/** A Tomcat that deploys the WAR as any container does: WarHost PORT WAR FOLDER. */
public final class WarHost {
    public static void main(String[] arguments) throws Exception {
        Tomcat tomcat = new Tomcat();
        tomcat.setBaseDir(arguments[2]);
        Path.of(arguments[2], "webapps").toFile().mkdirs();
        tomcat.setPort(Integer.parseInt(arguments[0]));
        tomcat.getConnector().setProperty("address", "127.0.0.1");
        tomcat.addWebapp("/rubbos", arguments[1]);
        tomcat.start();
        System.out.println("{\"ready\":true}");
        tomcat.getServer().await();
    }
}
