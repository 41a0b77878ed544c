package org.tierlab.rubbos.soft;

import java.util.HashMap;
import java.util.Map;

/**
 * The orders of one connection.
 *
 * <ul>
 *   <li>{@code get RESOURCE}: {@code ok LIMIT}
 *   <li>{@code set RESOURCE LIMIT}: {@code ok OLD-LIMIT}
 *   <li>{@code keep}: {@code ok 0}; what was changed so far stays when the connection ends
 *   <li>anything else: {@code error SENTENCE}
 * </ul>
 */
final class Orders {
    private final Map<String, SoftResource> resources;
    private final Map<SoftResource, Integer> before = new HashMap<>();

    Orders(Map<String, SoftResource> resources) {
        this.resources = resources;
    }

    String answer(String order) {
        String[] words = order.strip().split(" +");
        try {
            if (words.length == 2 && words[0].equals("get")) {
                return "ok " + named(words[1]).limit();
            }
            if (words.length == 3 && words[0].equals("set")) {
                return "ok " + set(named(words[1]), limit(words[2]));
            }
            if (words.length == 1 && words[0].equals("keep")) {
                before.clear();
                return "ok 0";
            }
        } catch (IllegalArgumentException e) {
            return "error " + e.getMessage();
        }
        return "error an order is: get RESOURCE, set RESOURCE LIMIT, or keep";
    }

    /** Puts back what this connection has changed. */
    void undo() {
        before.forEach(SoftResource::resize);
        before.clear();
    }

    private int set(SoftResource resource, int limit) {
        int old = resource.limit();
        before.putIfAbsent(resource, old);
        resource.resize(limit);
        return old;
    }

    private SoftResource named(String name) {
        SoftResource resource = resources.get(name);
        if (resource == null) {
            throw new IllegalArgumentException(
                    "no resource \"" + name + "\"; they are " + String.join(", ", resources.keySet()));
        }
        return resource;
    }

    private static int limit(String text) {
        try {
            int limit = Integer.parseInt(text);
            if (limit >= 1) {
                return limit;
            }
        } catch (NumberFormatException e) {
            // Falls through: the sentence below is the same for both.
        }
        throw new IllegalArgumentException(
                "a limit is a whole number of at least 1, not \"" + text + "\"");
    }
}
