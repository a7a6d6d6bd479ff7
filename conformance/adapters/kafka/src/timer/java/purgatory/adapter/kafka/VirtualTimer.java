// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.kafka;

import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import java.util.concurrent.DelayQueue;
import java.util.concurrent.Delayed;

/** The released timer on the virtual clock, with a stepped executor and every observable. */
final class VirtualTimer extends TimerSubject {

    private ReleasedTimer timer;
    private SteppedExecutor executor;
    private final HangGuard guard = new HangGuard(this::breakEndlessLoop);

    VirtualTimer() {
        guard.start();
    }

    @Override
    String name() {
        return ReleasedTimer.NAME;
    }

    @Override
    public JsonObject profile() {
        JsonObject profile = new JsonObject();
        profile.addProperty("rounding", "down");
        profile.addProperty("same_tick_order", "none");
        profile.addProperty("clock", "manual");
        profile.addProperty("executor", "stepped");
        profile.addProperty("structure", "delay_queue_wheel");
        profile.addProperty("negative_delay", "already_due");
        profile.addProperty("release_cancelled", "at_once");
        profile.addProperty("severe_throw", "as_ordinary");
        profile.add("largest_delay_ms", Json.integer(LARGEST_DELAY_MS));
        profile.add("features", Json.words(
                "cancel", "readd", "elapse", "shutdown", "script_throw", "script_throw_severe",
                "script_add", "script_cancel", "script_advance", "int64", "negative_clock",
                "reachable"));
        profile.add("observables", Json.words(
                "advance_result", "size", "queued", "wheel_clock_ms", "queued_buckets",
                "next_expiry_ms", "levels"));
        return profile;
    }

    @Override
    void open(TimerSizes sizes) {
        close();
        timer = new ReleasedTimer(sizes);
        executor = new SteppedExecutor(task -> events.record("expired", task.name()));
        executor.replaceIn(timer.timer());
    }

    @Override
    public void close() {
        timer = null;
        executor = null;
    }

    @Override
    void arm(ScriptedTask task) {
        timer.add(task);
    }

    @Override
    boolean advanceClock() throws InterruptedException {
        return timer.advanceClock();
    }

    @Override
    public void perform(JsonObject operation, JsonObject reply) {
        guard.enter();
        try {
            super.perform(operation, reply);
        } finally {
            if (guard.leave()) {
                Rejection.write(
                        reply, "internal", "endless loop inside the timer, broken by the adapter");
            }
        }
    }

    @Override
    Call decode(JsonObject operation) {
        switch (Json.text(operation, "op")) {
            case "elapse" -> {
                long toMs = Json.integer(operation, "to_ms");
                return () -> {
                    VirtualClock.set(toMs);
                    return null;
                };
            }
            case "advance" -> {
                long toMs = Json.integer(operation, "to_ms");
                boolean refuse = Json.truth(operation, "refuse", false);
                return () -> {
                    VirtualClock.set(toMs);
                    executor.refuse(refuse);
                    try {
                        return truth(timer.advanceClock());
                    } finally {
                        executor.refuse(false);
                    }
                };
            }
            case "run_one" -> {
                return () -> {
                    executor.runOne();
                    return null;
                };
            }
            case "reachable" -> {
                return look(Json.text(operation, "task"));
            }
            case "shutdown" -> {
                return () -> {
                    timer.close();
                    return null;
                };
            }
            default -> {
                return super.decode(operation);
            }
        }
    }

    @Override
    void observe(JsonObject reply) {
        Object wheel = Internals.wheel(timer.timer());
        DelayQueue<?> buckets = Internals.delayQueue(timer.timer());
        Delayed first = buckets.peek();
        JsonObject observed = new JsonObject();
        observed.addProperty("size", timer.size());
        observed.addProperty("queued", executor.queued());
        observed.add("wheel_clock_ms", Json.integer(Internals.currentTimeMs(wheel)));
        observed.addProperty("queued_buckets", buckets.size());
        observed.add("next_expiry_ms",
                first == null ? JsonNull.INSTANCE : Json.integer(Internals.expirationMs(first)));
        observed.addProperty("levels", Internals.levels(wheel));
        reply.add("observed", observed);
    }

    /** The flush that never ends drops a task that has no entry any more, as a cancelled one. */
    private void breakEndlessLoop() {
        everyTask().forEach(Internals::forgetEntry);
    }
}
