package org.tierlab.rubbos.soft;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.logging.Level;
import java.util.logging.Logger;

/**
 * The orders of one connection.
 *
 * <ul>
 *   <li>{@code get RESOURCE}: {@code ok LIMIT}
 *   <li>{@code set RESOURCE LIMIT}: {@code ok OLD-LIMIT}
 *   <li>{@code hold RESOURCE NUMBER}: {@code ok NUMBER}; so much of it is in use by nobody's
 *       request, 0 gives it back
 *   <li>{@code keep}: {@code ok 0}; what was changed so far stays when the connection ends
 *   <li>anything else: {@code error SENTENCE}
 * </ul>
 */
final class Orders {
    private static final Logger LOG = Logger.getLogger(Orders.class.getName());

    private final Map<String, SoftResource> resources;
    private final Map<SoftResource, Integer> before = new HashMap<>();
    private final Set<SoftResource> held = new HashSet<>();

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
                return "ok " + set(named(words[1]), atLeast(1, "a limit", words[2]));
            }
            if (words.length == 3 && words[0].equals("hold")) {
                return "ok " + hold(named(words[1]), atLeast(0, "a number held", words[2]));
            }
            if (words.length == 1 && words[0].equals("keep")) {
                before.clear();
                return "ok 0";
            }
        } catch (IllegalArgumentException e) {
            return "error " + e.getMessage();
        }
        return "error an order is: get RESOURCE, set RESOURCE LIMIT, hold RESOURCE NUMBER, or"
                + " keep";
    }

    /**
     * Puts back what this connection has changed: first what requests wait for. What cannot be put
     * back does not keep the rest.
     */
    void undo() {
        held.forEach(resource -> attempt(() -> resource.hold(0)));
        held.clear();
        before.forEach((resource, limit) -> attempt(() -> resource.resize(limit)));
        before.clear();
    }

    private static void attempt(Runnable step) {
        try {
            step.run();
        } catch (RuntimeException e) {
            LOG.log(Level.WARNING, "a change of a soft resource cannot be put back", e);
        }
    }

    private int hold(SoftResource resource, int count) {
        held.add(resource);
        resource.hold(count);
        if (count == 0) {
            held.remove(resource);
        }
        return count;
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

    private static int atLeast(int least, String what, String text) {
        try {
            int number = Integer.parseInt(text);
            if (number >= least) {
                return number;
            }
        } catch (NumberFormatException e) {
            // Falls through: the sentence below is the same for both.
        }
        throw new IllegalArgumentException(
                what + " is a whole number of at least " + least + ", not \"" + text + "\"");
    }
}
