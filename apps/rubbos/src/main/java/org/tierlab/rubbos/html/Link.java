package org.tierlab.rubbos.html;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;

/**
 * The address of a dynamic page. Parameters are joined by a bare ampersand, which HTML 5 allows in
 * an attribute where no named character reference follows; clients that search the page's text, as
 * the published one does, find {@code &page=} as they send it.
 */
public final class Link {
    /** Where the application lives; the static pages name it too. */
    public static final String BASE = "/rubbos";

    private final String address;

    private Link(String address) {
        this.address = address;
    }

    public static Link to(String page) {
        return new Link(BASE + "/servlet/" + page);
    }

    public Link with(String name, Object value) {
        char joint = address.indexOf('?') < 0 ? '?' : '&';
        return new Link(address + joint + name + "="
                + URLEncoder.encode(String.valueOf(value), StandardCharsets.UTF_8));
    }

    @Override
    public String toString() {
        return address;
    }
}
