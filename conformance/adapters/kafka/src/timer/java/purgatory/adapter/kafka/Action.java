// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.kafka;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.util.ArrayList;
import java.util.List;

/** One entry of a script: what a task does when it runs. */
record Action(Kind kind, String task, long delayMs) {

    enum Kind { THROW, THROW_SEVERE, ADD, CANCEL, ADVANCE }

    static List<Action> script(JsonArray entries) {
        List<Action> script = new ArrayList<>(entries.size());
        for (JsonElement entry : entries) {
            if (!(entry instanceof JsonObject action)) {
                throw new Json.BadRequest("an action must be an object");
            }
            script.add(decode(action));
        }
        return script;
    }

    private static Action decode(JsonObject action) {
        String word = Json.text(action, "do");
        return switch (word) {
            case "throw" -> new Action(
                    Json.isSevere(action) ? Kind.THROW_SEVERE : Kind.THROW, "", 0);
            case "add" -> new Action(
                    Kind.ADD, Json.text(action, "task"), Json.integer(action, "delay_ms"));
            case "cancel" -> new Action(Kind.CANCEL, Json.text(action, "task"), 0);
            case "advance" -> new Action(Kind.ADVANCE, "", 0);
            default -> throw new Unsupported("there is no action '" + word + "' here");
        };
    }
}
