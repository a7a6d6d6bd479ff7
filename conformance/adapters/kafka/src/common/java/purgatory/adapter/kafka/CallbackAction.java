// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.kafka;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.util.ArrayList;
import java.util.List;

/**
 * One entry of a callback's script; {@code name} is that of an operation or of a key.
 *
 * <p>Where {@code meanwhile} holds another thread makes the call, and the callback stands still.
 */
record CallbackAction(
        Kind kind, String name, List<String> keys, long delayMs, boolean meanwhile) {

    enum Kind { THROW, THROW_SEVERE, WATCH, CHECK, CANCEL_FOR_KEY, FORCE, SATISFY }

    static List<CallbackAction> script(JsonArray entries) {
        List<CallbackAction> script = new ArrayList<>(entries.size());
        for (JsonElement entry : entries) {
            if (!(entry instanceof JsonObject action)) {
                throw new Json.BadRequest("an action must be an object");
            }
            script.add(decode(action));
        }
        return List.copyOf(script);
    }

    private static CallbackAction decode(JsonObject action) {
        String word = Json.text(action, "do");
        return switch (word) {
            case "throw" -> new CallbackAction(
                    Json.isSevere(action) ? Kind.THROW_SEVERE : Kind.THROW,
                    "", List.of(), 0, false);
            case "watch" -> new CallbackAction(
                    Kind.WATCH,
                    Json.text(action, "operation"),
                    Json.texts(action, "keys"),
                    Json.integer(action, "delay_ms"),
                    false);
            case "check" -> about(Kind.CHECK, action, "key");
            case "cancel_for_key" -> about(Kind.CANCEL_FOR_KEY, action, "key");
            case "force" -> about(Kind.FORCE, action, "operation");
            case "satisfy" -> about(Kind.SATISFY, action, "operation");
            case "meanwhile" -> decode(Json.object(action, "call")).asMeanwhile();
            default -> throw new Unsupported("there is no action '" + word + "' here");
        };
    }

    private static CallbackAction about(Kind kind, JsonObject action, String field) {
        return new CallbackAction(kind, Json.text(action, field), List.of(), 0, false);
    }

    private CallbackAction asMeanwhile() {
        return new CallbackAction(kind, name, keys, delayMs, true);
    }
}
