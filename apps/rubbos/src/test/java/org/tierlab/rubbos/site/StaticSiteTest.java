package org.tierlab.rubbos.site;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.awt.image.BufferedImage;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.tierlab.rubbos.html.Layout;

class StaticSiteTest {
    @Test
    void theLogoIsAnImageOfThePublishedSize() throws IOException {
        byte[] png = Logo.png();
        assertEquals(9_724, png.length);
        assertArrayEquals(png, Logo.png());
        BufferedImage image = ImageIO.read(new ByteArrayInputStream(png));
        assertEquals(120, image.getWidth());
        assertEquals(60, image.getHeight());
    }

    @Test
    void staticPagesHaveTheHeaderOfTheDynamicOnes(@TempDir Path folder) throws IOException {
        StaticSite.main(new String[] {folder.toString()});
        String header = header(Layout.begin("Anything").toString());
        assertTrue(header.contains("<IMG SRC=\"/rubbos/images/logo.png\""));
        for (String page : List.of("register.html", "browse.html", "author.html")) {
            assertEquals(header, header(Files.readString(folder.resolve(page))));
        }
        assertArrayEquals(Logo.png(), Files.readAllBytes(folder.resolve("images/logo.png")));
    }

    private static String header(String page) {
        return page.substring(page.indexOf("<header>"), page.indexOf("</header>"));
    }
}
