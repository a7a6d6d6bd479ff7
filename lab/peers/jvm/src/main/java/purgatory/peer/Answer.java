// SPDX-License-Identifier: CC0-1.0
package purgatory.peer;

import com.google.gson.JsonElement;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;

/** What a measure answers: how often, at what cost, and its own details. */
public final class Answer {

    private final JsonObject answer = new JsonObject();
    private final JsonObject detail = new JsonObject();

    public Answer(long operations, Costs costs) {
        answer.addProperty("operations", operations);
        answer.add("thread_cpu_ns", orNull(costs.threadCpuNs()));
        answer.add("process_cpu_ns", orNull(costs.processCpuNs()));
        answer.addProperty("wall_ns", costs.wallNs());
        answer.add("detail", detail);
    }

    public Answer with(String key, Number value) {
        detail.addProperty(key, value);
        return this;
    }

    public Answer with(String key, String value) {
        detail.addProperty(key, value);
        return this;
    }

    public JsonObject json() {
        return answer;
    }

    private static JsonElement orNull(long ns) {
        return ns == Costs.NOT_TOLD ? JsonNull.INSTANCE : new JsonPrimitive(ns);
    }
}
