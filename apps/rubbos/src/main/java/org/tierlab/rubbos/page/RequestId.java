package org.tierlab.rubbos.page;

import java.util.regex.Pattern;

/** The id that a request carries through all tiers. */
final class RequestId {
    static final String HEADER = "X-Request-Id";

    private static final Pattern HEX = Pattern.compile("[0-9a-fA-F]{1,32}");

    private RequestId() {}

    /** The header's value if it is hexadecimal, so that it is harmless inside an SQL comment; else "". */
    static String of(String header) {
        return header != null && HEX.matcher(header).matches() ? header : "";
    }
}
