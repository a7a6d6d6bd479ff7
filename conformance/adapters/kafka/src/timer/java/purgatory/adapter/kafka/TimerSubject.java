// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.kafka;

import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** One way to drive a timer: the operations that all ways share, and their outcomes. */
abstract class TimerSubject implements Component {

    /** There is no documented limit of a delay but the type that carries it. */
    static final long LARGEST_DELAY_MS = Long.MAX_VALUE;

    private final Map<String, ScriptedTask> tasks = new ConcurrentHashMap<>();
    private final Dropped dropped = new Dropped();
    final Events events = new Events();

    /** Who is behind the adapter, in the words of a report. */
    abstract String name();

    /** Makes a fresh timer, which replaces the one before. */
    abstract void open(TimerSizes sizes) throws Exception;

    abstract void arm(ScriptedTask task);

    /** Expires what is due, without waiting; whether a bucket was popped. */
    abstract boolean advanceClock() throws Exception;

    /** Puts what the subject alone knows into the outcome, after the operation. */
    abstract void observe(JsonObject reply);

    @Override
    public final void open(JsonObject configuration) throws Exception {
        TimerSizes sizes = TimerSizes.decode(configuration);
        tasks.clear();
        dropped.clear();
        events.clear();
        open(sizes);
    }

    @Override
    public void perform(JsonObject operation, JsonObject reply) {
        decode(operation).attempt(reply, TimerSubject::reason);
        events.moveInto(reply);
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
                        arm(task);
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
        events.record("ran", task.name());
        for (Action action : task.script()) {
            carryOut(task, action);
        }
    }

    /** Drops a task, and looks whether anybody else holds it. */
    final Call look(String name) {
        return dropped.look(tasks, name);
    }

    final Iterable<ScriptedTask> everyTask() {
        return tasks.values();
    }

    final boolean isPresent(ScriptedTask task) {
        return tasks.get(task.name()) == task;
    }

    private void carryOut(ScriptedTask running, Action action) {
        if (action.kind() == Action.Kind.THROW) {
            throw new ScriptFailure();
        }
        if (action.kind() == Action.Kind.THROW_SEVERE) {
            throw new SevereScriptFailure();
        }
        try {
            switch (action.kind()) {
                case ADD -> arm(task(action.task(), action.delayMs()));
                case CANCEL -> taskToCancel(action.task()).cancel();
                case ADVANCE -> advanceClock();
                default -> throw new IllegalStateException();
            }
        } catch (Throwable failure) {
            events.recordRejected(running.name(), reason(failure));
        }
    }

    /** A script's failure is planned where an executor keeps it to itself, and nowhere else. */
    private static String reason(Throwable failure) {
        boolean planned =
                failure instanceof ScriptFailure || failure instanceof SevereScriptFailure;
        return planned ? "internal" : Rejection.reason(failure);
    }

    private ScriptedTask task(String name, long delayMs) {
        ScriptedTask task =
                tasks.computeIfAbsent(name, fresh -> new ScriptedTask(fresh, delayMs, this::run));
        if (task.delay() != delayMs) {
            throw new Unsupported("a task keeps the delay that it was made with");
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
