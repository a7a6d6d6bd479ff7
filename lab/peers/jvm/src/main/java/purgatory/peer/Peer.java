// SPDX-License-Identifier: CC0-1.0
package purgatory.peer;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.Map;

/**
 * A peer.
 *
 * @param name of the subject
 * @param version of the subject
 * @param measures what it can be asked, by name
 */
public record Peer(String name, String version, Map<String, Measure> measures) {

    JsonObject greeting() {
        JsonObject greeting = new JsonObject();
        greeting.addProperty("peer", name);
        greeting.addProperty("version", version);
        greeting.addProperty("runtime",
                "OpenJDK " + System.getProperty("java.version") + ", " + collector());
        JsonArray names = new JsonArray();
        measures.keySet().forEach(names::add);
        greeting.add("measures", names);
        return greeting;
    }

    JsonObject take(Request request) throws Exception {
        Measure measure = measures.get(request.measure());
        if (measure == null) {
            throw new BadRequest("'" + request.measure() + "' is not measured here");
        }
        return measure.take(request).json();
    }

    /** The collector of young objects, by the name that its flag has. */
    private static String collector() {
        for (GarbageCollectorMXBean bean : ManagementFactory.getGarbageCollectorMXBeans()) {
            switch (bean.getName()) {
                case "G1 Young Generation" -> {
                    return "G1";
                }
                case "PS Scavenge" -> {
                    return "parallel";
                }
                case "Copy" -> {
                    return "serial";
                }
                default -> {
                    // Another generation, or another collector.
                }
            }
        }
        return ManagementFactory.getGarbageCollectorMXBeans().get(0).getName();
    }
}
