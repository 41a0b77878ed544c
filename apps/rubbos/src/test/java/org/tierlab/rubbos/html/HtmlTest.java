package org.tierlab.rubbos.html;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;
import org.tierlab.rubbos.html.Html.Option;

class HtmlTest {
    private static final String NASTY = "<script>\"a\" & 'b'</script>";
    private static final String TAME = "&lt;script&gt;&quot;a&quot; &amp; &#39;b&#39;&lt;/script&gt;";

    @Test
    void everyWayForTextToGetInEscapesIt() {
        assertEquals(TAME, new Html().text(NASTY).toString());
        assertEquals("<p>" + TAME + "</p>", new Html().markup("<p>%</p>", NASTY).toString());
        assertEquals(
                "<input type=\"hidden\" name=\"a\" value=\"" + TAME + "\">\n",
                new Html().hidden("a", NASTY).toString());
        assertEquals(
                "<p><label>l <select name=\"n\">\n<option value=\"" + TAME + "\">" + TAME
                        + "</option>\n</select></label></p>\n",
                new Html().select("l", "n", new Option(NASTY, NASTY)).toString());
        assertEquals(
                "<a href=\"/rubbos/servlet/X?q=%3Cscript%3E%22a%22+%26+%27b%27%3C%2Fscript%3E\">" + TAME
                        + "</a>\n",
                new Html().link(Link.to("X").with("q", NASTY), NASTY).toString());
    }

    @Test
    void aPercentInAValueIsNoPlace() {
        assertEquals("100% %|b", new Html().markup("%|%", "100% %", "b").toString());
        assertThrows(IllegalArgumentException.class, () -> new Html().markup("%", 1, 2));
    }

    @Test
    void linksKeepTheOrderOfTheirParameters() {
        assertEquals(
                "/rubbos/servlet/Search?search=a%26b&type=1&page=2",
                Link.to("Search").with("search", "a&b").with("type", 1).with("page", 2).toString());
    }
}
