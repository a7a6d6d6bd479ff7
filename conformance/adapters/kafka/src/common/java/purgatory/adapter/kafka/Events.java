// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.kafka;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;

/** What happened to tasks and delayed operations since the last reply, in order; of any thread. */
final class Events {

    private JsonArray happened = new JsonArray();

    synchronized void record(String kind, String task) {
        happened.add(event(kind, task));
    }

    synchronized void recordRejected(String running, String reason) {
        JsonObject event = event("rejected", running);
        event.addProperty("reason", reason);
        happened.add(event);
    }

    synchronized void clear() {
        happened = new JsonArray();
    }

    synchronized void moveInto(JsonObject reply) {
        if (!happened.isEmpty()) {
            reply.add("events", happened);
            clear();
        }
    }

    static JsonObject event(String kind, String task) {
        JsonObject event = new JsonObject();
        event.addProperty("kind", kind);
        event.addProperty("task", task);
        return event;
    }
}
