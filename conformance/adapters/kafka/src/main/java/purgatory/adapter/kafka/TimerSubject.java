// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.kafka;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import org.apache.kafka.server.util.timer.Timer;

/** One way to drive a timer of Kafka's: the operations that all ways share, and their outcomes. */
abstract class TimerSubject {

    /** Kafka documents no limit of a delay but the type that carries it. */
    static final long LARGEST_DELAY_MS = Long.MAX_VALUE;

    /** What a subject does not offer; answered with {@code unsupported}. */
    static final class Unsupported extends RuntimeException {
        private static final long serialVersionUID = 1;

        Unsupported(String sentence) {
            super(sentence);
        }
    }

    /** A call into Kafka; its value, or null, is the result of the step. */
    interface Call {
        JsonElement call() throws Throwable;
    }

    private final Map<String, ScriptedTask> tasks = new ConcurrentHashMap<>();
    private JsonArray events = new JsonArray();

    /** Who is behind the adapter, in the words of a report. */
    abstract String name();

    abstract JsonObject profile();

    /** Makes a fresh timer, which replaces the one before. */
    abstract void open(long tickMs, int wheelSize, long startMs) throws Exception;

    /** Lets go of the timer and all that it holds, without waiting for it. */
    abstract void close();

    abstract Timer timer();

    /** Puts what the subject alone knows into the outcome, after the operation. */
    abstract void observe(JsonObject reply);

    final void openFresh(long tickMs, int wheelSize, long startMs) throws Exception {
        tasks.clear();
        events = new JsonArray();
        open(tickMs, wheelSize, startMs);
    }

    /** Carries one operation out and writes its outcome into the reply. */
    void perform(JsonObject operation, JsonObject reply) {
        attempt(decode(operation), reply);
        if (!events.isEmpty()) {
            reply.add("events", events);
            events = new JsonArray();
        }
        observe(reply);
    }

    /** The call that an operation asks for; what fails here is the request, not the timer. */
    Call decode(JsonObject operation) {
        String word = Json.text(operation, "op");
        switch (word) {
            case "add" -> {
                List<Action> script = Action.script(Json.array(operation, "script"));
                ScriptedTask task =
                        task(Json.text(operation, "task"), Json.integer(operation, "delay_ms"));
                return () -> {
                    List<Action> before = task.script();
                    task.setScript(script);
                    try {
                        timer().add(task);
                    } catch (Throwable failure) {
                        task.setScript(before); // an add that failed has changed nothing
                        throw failure;
                    }
                    return null;
                };
            }
            case "cancel" -> {
                ScriptedTask task = taskToCancel(Json.text(operation, "task"));
                return () -> {
                    task.cancel();
                    return null;
                };
            }
            default -> throw new Unsupported("there is no operation '" + word + "' here");
        }
    }

    /** What a running task does: here, be recorded and then carry its script out. */
    void run(ScriptedTask task) {
        record(event("ran", task.name));
        for (Action action : task.script()) {
            carryOut(task, action);
        }
    }

    final void record(JsonObject event) {
        events.add(event);
    }

    static JsonObject event(String kind, String task) {
        JsonObject event = new JsonObject();
        event.addProperty("kind", kind);
        event.addProperty("task", task);
        return event;
    }

    final Iterable<ScriptedTask> everyTask() {
        return tasks.values();
    }

    final boolean isPresent(ScriptedTask task) {
        return tasks.get(task.name) == task;
    }

    static void reject(JsonObject reply, String reason, String detail) {
        reply.remove("result");
        reply.addProperty("rejected", reason);
        reply.addProperty("detail", detail);
    }

    private void attempt(Call call, JsonObject reply) {
        try {
            JsonElement result = call.call();
            if (result != null) {
                reply.add("result", result);
            }
        } catch (Unsupported unsupported) {
            throw unsupported;
        } catch (Throwable failure) {
            reject(reply, reason(failure), failure.getClass().getName());
        }
    }

    private void carryOut(ScriptedTask running, Action action) {
        if (action.kind() == Action.Kind.THROW) {
            throw new Action.ScriptFailure();
        }
        try {
            switch (action.kind()) {
                case ADD -> timer().add(task(action.task(), action.delayMs()));
                case CANCEL -> taskToCancel(action.task()).cancel();
                case ADVANCE -> timer().advanceClock(0);
                default -> throw new IllegalStateException();
            }
        } catch (Throwable failure) {
            JsonObject event = event("rejected", running.name);
            event.addProperty("reason", reason(failure));
            record(event);
        }
    }

    private static String reason(Throwable failure) {
        if (failure instanceof Unsupported) {
            return "unsupported";
        }
        if (failure instanceof RejectedExecutionException) {
            return "closed";
        }
        return failure instanceof IllegalArgumentException ? "invalid_argument" : "internal";
    }

    private ScriptedTask task(String name, long delayMs) {
        ScriptedTask task =
                tasks.computeIfAbsent(name, fresh -> new ScriptedTask(fresh, delayMs, this::run));
        if (task.delayMs != delayMs) {
            throw new Unsupported("a task of Kafka's keeps the delay that it was made with");
        }
        return task;
    }

    private ScriptedTask taskToCancel(String name) {
        ScriptedTask known = tasks.get(name);
        return known != null ? known : new ScriptedTask(name, 0, this::run);
    }

    static JsonPrimitive truth(boolean value) {
        return new JsonPrimitive(value);
    }
}
