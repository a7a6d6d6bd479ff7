// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.kafka;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** A purgatory on the virtual clock, stepped, with every observable. */
final class PurgatorySubject implements Component, Callbacks.Stage {

    private final Map<String, ScriptedOperation> operations = new ConcurrentHashMap<>();
    private final Dropped dropped = new Dropped();
    private final OtherThread otherThread = new OtherThread();
    private final Events events = new Events();
    private SteppedPurgatory purgatory;
    private volatile JsonElement callbackTimerSize = JsonNull.INSTANCE;

    @Override
    public JsonObject profile() {
        JsonObject profile = new JsonObject();
        profile.addProperty("accounting", "proposal");
        profile.addProperty("check_drops", "as_passed");
        profile.addProperty("throwing_try", "stop");
        profile.addProperty("severe_throw", "as_ordinary");
        profile.addProperty("executor", "stepped");
        profile.addProperty("rounding", "down");
        profile.addProperty("same_tick_order", "none");
        profile.addProperty("structure", "delay_queue_wheel");
        profile.addProperty("release_cancelled", "at_once");
        JsonArray features = Json.words(
                "force", "cancel_for_key", "rewatch", "duplicate_keys", "elapse", "shutdown",
                "script_throw", "script_throw_severe", "script_watch", "script_check",
                "script_cancel_for_key", "script_force", "script_try", "script_meanwhile",
                "reachable");
        if (ReleasedPurgatory.MAY_HAVE_NO_TIME_OUTS) {
            features.add("no_time_outs");
        }
        profile.add("features", features);
        profile.add("observables", Json.words(
                "entries", "keys", "stale_entries", "stale_operations", "timer_size", "queued",
                "estimate", "callback_timer_size"));
        return profile;
    }

    @Override
    public void open(JsonObject configuration) {
        close();
        TimerSizes sizes = TimerSizes.decode(configuration);
        int purgeInterval = Json.small(configuration, "purge_interval", 1000);
        boolean timeOuts = Json.truth(configuration, "time_outs", true);
        VirtualClock.set(sizes.startMs());
        purgatory = new SteppedPurgatory(sizes, purgeInterval, timeOuts, events);
    }

    @Override
    public void close() {
        SteppedPurgatory former = purgatory;
        purgatory = null;
        operations.clear();
        dropped.clear();
        events.clear();
        if (former != null) {
            former.close();
        }
    }

    @Override
    public void perform(JsonObject operation, JsonObject reply) {
        callbackTimerSize = JsonNull.INSTANCE;
        decode(operation).attempt(reply, Rejection::reason);
        otherThread.endStep();
        events.moveInto(reply);
        reply.add("observed", observed());
    }

    private Call decode(JsonObject operation) {
        String word = Json.text(operation, "op");
        return switch (word) {
            case "watch" -> watch(operation);
            case "check" -> check(Json.text(operation, "key"));
            case "cancel_for_key" -> cancelForKey(Json.text(operation, "key"));
            case "force" -> force(Json.text(operation, "operation"));
            case "satisfy" -> step(known(Json.text(operation, "operation")).callbacks::satisfy);
            case "elapse" -> elapse(Json.integer(operation, "to_ms"));
            case "advance" -> advance(
                    Json.integer(operation, "to_ms"), Json.truth(operation, "refuse", false));
            case "run_one" -> step(() -> purgatory.executor.runOne());
            case "reachable" -> dropped.look(operations, Json.text(operation, "task"));
            case "shutdown" -> step(() -> purgatory.released.shutdown());
            default -> throw new Unsupported("there is no operation '" + word + "' here");
        };
    }

    private Call watch(JsonObject operation) {
        String name = Json.text(operation, "operation");
        List<String> keys = Json.texts(operation, "keys");
        long delayMs = Json.integer(operation, "delay_ms");
        OperationScript script = operation.has("script")
                ? OperationScript.decode(Json.object(operation, "script"))
                : OperationScript.EMPTY;
        return () -> new JsonPrimitive(
                purgatory.released.tryCompleteElseWatch(introduced(name, delayMs, script), keys));
    }

    private Call check(String key) {
        return () -> new JsonPrimitive(purgatory.released.checkAndComplete(key));
    }

    private Call cancelForKey(String key) {
        return () -> {
            JsonArray names = new JsonArray();
            for (ScriptedOperation cancelled : purgatory.released.cancelForKey(key)) {
                names.add(cancelled.name());
            }
            return names;
        };
    }

    private Call force(String name) {
        return () -> new JsonPrimitive(known(name).forceComplete());
    }

    private static Call elapse(long toMs) {
        return step(() -> VirtualClock.set(toMs));
    }

    private Call advance(long toMs, boolean refuse) {
        return step(() -> {
            VirtualClock.set(toMs);
            purgatory.executor.refuse(refuse);
            try {
                purgatory.advance();
            } finally {
                purgatory.executor.refuse(false);
            }
        });
    }

    private interface Step {
        void run() throws Throwable;
    }

    private static Call step(Step step) {
        return () -> {
            step.run();
            return null;
        };
    }

    /** The operation of this name, made now where there is none yet. */
    private ScriptedOperation introduced(String name, long delayMs, OperationScript script) {
        return operations.computeIfAbsent(name, fresh -> new ScriptedOperation(
                delayMs, new Callbacks(fresh, script, events, this)));
    }

    private ScriptedOperation known(String name) {
        return introduced(name, 0, OperationScript.EMPTY);
    }

    /** What a callback does; only {@code throw} ends it early. */
    @Override
    public void play(String running, List<CallbackAction> actions) {
        for (CallbackAction action : actions) {
            if (action.kind() == CallbackAction.Kind.THROW) {
                throw new ScriptFailure();
            }
            if (action.kind() == CallbackAction.Kind.THROW_SEVERE) {
                throw new SevereScriptFailure();
            }
            if (action.meanwhile()) {
                otherThread.call(() -> playOne(running, action));
            } else {
                playOne(running, action);
            }
        }
    }

    @Override
    public void completed() {
        callbackTimerSize = new JsonPrimitive(purgatory.released.numDelayed());
    }

    private void playOne(String running, CallbackAction action) {
        try {
            carryOut(action);
        } catch (Throwable failure) {
            events.recordRejected(running, Rejection.reason(failure));
        }
    }

    private void carryOut(CallbackAction action) {
        switch (action.kind()) {
            case WATCH -> purgatory.released.tryCompleteElseWatch(
                    introduced(action.name(), action.delayMs(), OperationScript.EMPTY),
                    action.keys());
            case CHECK -> purgatory.released.checkAndComplete(action.name());
            case CANCEL_FOR_KEY -> purgatory.released.cancelForKey(action.name());
            case FORCE -> known(action.name()).forceComplete();
            case SATISFY -> known(action.name()).callbacks.satisfy();
            default -> throw new IllegalStateException();
        }
    }

    private JsonObject observed() {
        WatcherLists.Counts counts = purgatory.lists.count();
        JsonObject observed = new JsonObject();
        observed.addProperty("entries", counts.entries());
        observed.addProperty("keys", counts.keys());
        observed.addProperty("stale_entries", counts.staleEntries());
        observed.addProperty("stale_operations", counts.staleOperations());
        observed.addProperty("timer_size", purgatory.released.numDelayed());
        observed.addProperty("queued", purgatory.executor.queued());
        observed.addProperty("estimate", purgatory.estimate());
        observed.add("callback_timer_size", callbackTimerSize);
        return observed;
    }
}
