// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.timers;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The operations on one of the timers. */
final class TimerSide implements Side {
    private final Subject subject;
    private Told here = new Told(new ArrayList<>(), new HashMap<>());
    private Timer timer;

    TimerSide(Subject subject) {
        this.subject = subject;
    }

    @Override
    public String name() {
        return subject.name();
    }

    @Override
    public String source() {
        return subject.source();
    }

    @Override
    public Map<String, Object> components() {
        return Map.of("timer", subject.profile());
    }

    @Override
    public void open(JsonObject asked) {
        // An instance that has been replaced may still run a task: each has lists of its own.
        Told told = new Told(new ArrayList<>(), new HashMap<>());
        here = told;
        timer = subject.maker().make(
                new Subject.Asked(
                        Main.number(asked, "tick_ms", 1),
                        (int) Main.number(asked, "wheel_size", 20),
                        Main.number(asked, "start_ms", 0)),
                task -> run(told, task));
    }

    @Override
    public void end() {
        if (timer != null) {
            timer.close();
            timer = null;
        }
    }

    @Override
    public void carryOut(JsonObject operation, JsonObject reply) {
        long calledMs = nowMs();
        switch (operation.get("op").getAsString()) {
            case "add" -> add(operation, reply);
            case "cancel" -> timer.cancel(task(operation));
            case "elapse" -> timer.elapse(operation.get("to_ms").getAsLong());
            case "advance" -> {
                timer.elapse(operation.get("to_ms").getAsLong());
                reply.addProperty("result", timer.advance());
            }
            case "shutdown" -> timer.close();
            case "wait" -> pause(operation.get("for_ms").getAsLong());
            default -> {
                reply.addProperty("unsupported", "there is no such operation here");
                return;
            }
        }
        if (subject.onRealClock()) {
            reply.addProperty("called_ms", calledMs);
            reply.addProperty("returned_ms", nowMs());
        }
        reply.add("observed", Main.GSON.toJsonTree(timer.observed()));
        JsonArray told = new JsonArray();
        synchronized (here.events()) {
            here.events().forEach(told::add);
            here.events().clear();
        }
        reply.add("events", told);
    }

    /** The script of a step replaces that of the task, unless the step is refused. */
    private void add(JsonObject operation, JsonObject reply) {
        String task = task(operation);
        JsonArray script = operation.has("script")
                ? operation.getAsJsonArray("script")
                : new JsonArray();
        JsonArray before = here.scripts().put(task, script);
        try {
            timer.add(task, operation.get("delay_ms").getAsLong());
        } catch (IllegalArgumentException | IllegalStateException refused) {
            here.scripts().put(task, before == null ? new JsonArray() : before);
            reply.addProperty("rejected", reason(refused));
        }
    }

    private static String reason(RuntimeException refused) {
        if (refused instanceof InvalidDelay) {
            return "invalid_argument";
        }
        return refused instanceof IllegalStateException ? "closed" : "too_large";
    }

    private void run(Told told, String task) {
        tell(told, "ran", task, null);
        for (JsonElement each : told.scripts().getOrDefault(task, new JsonArray())) {
            JsonObject action = each.getAsJsonObject();
            switch (action.get("do").getAsString()) {
                case "throw" -> {
                    if (action.has("sort")) { // there is one, and it is severe
                        throw new Error("thrown by a script");
                    }
                    throw new IllegalCallerException("thrown by a script");
                }
                case "cancel" -> timer.cancel(task(action));
                case "add" -> {
                    try {
                        timer.add(task(action), action.get("delay_ms").getAsLong());
                    } catch (IllegalArgumentException | IllegalStateException refused) {
                        tell(told, "rejected", task, reason(refused));
                    }
                }
                default -> throw new IllegalArgumentException("no such action: " + action);
            }
        }
    }

    private void tell(Told told, String kind, String task, String reason) {
        JsonObject event = new JsonObject();
        event.addProperty("kind", kind);
        event.addProperty("task", task);
        if (reason != null) {
            event.addProperty("reason", reason);
        }
        if (subject.onRealClock()) {
            event.addProperty("at_ms", nowMs());
        }
        synchronized (told.events()) {
            told.events().add(event);
        }
    }

    private static void pause(long forMs) {
        try {
            Thread.sleep(forMs);
        } catch (InterruptedException interrupted) {
            throw new IllegalStateException(interrupted);
        }
    }

    private static String task(JsonObject operation) {
        return operation.get("task").getAsString();
    }

    private long nowMs() {
        return subject.clock().getAsLong();
    }

    /** What an instance has told since the last reply, guarded by itself, and its tasks' scripts. */
    private record Told(List<JsonObject> events, Map<String, JsonArray> scripts) {
    }
}
