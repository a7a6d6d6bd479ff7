// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.kafka;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.server.util.timer.SystemTimer;
import org.apache.kafka.server.util.timer.SystemTimerReaper;

/** SystemTimer and its reaper as a broker runs them: real clock, own threads, nothing replaced. */
final class RealTimer extends TimerSubject {

    private SystemTimerReaper reaper;
    private long calledMs;
    private volatile Queue<JsonObject> happened = new ConcurrentLinkedQueue<>();

    RealTimer() {
        if (KafkasClock.isVirtual()) {
            throw new IllegalStateException("leave the folder of the shadowing class out");
        }
    }

    @Override
    String name() {
        return "Apache Kafka SystemTimer, real clock";
    }

    @Override
    public JsonObject profile() {
        JsonObject profile = new JsonObject();
        profile.addProperty("rounding", "down");
        profile.addProperty("clock", "wall");
        profile.addProperty("executor", "thread");
        profile.addProperty("negative_delay", "already_due");
        profile.add("largest_delay_ms", Json.integer(LARGEST_DELAY_MS));
        profile.addProperty("lateness_ms", 100);
        profile.add("features", Json.words("cancel", "readd"));
        return profile;
    }

    @Override
    void open(TimerSizes sizes) {
        close();
        happened = new ConcurrentLinkedQueue<>();
        reaper = new SystemTimerReaper(
                "conformance-reaper",
                new SystemTimer(
                        "conformance",
                        sizes.tickMs(),
                        sizes.wheelSize(),
                        Time.SYSTEM.hiResClockMs()));
    }

    /** Kafka waits for its threads here, so a thread of its own waits with it. */
    @Override
    public void close() {
        SystemTimerReaper former = reaper;
        reaper = null;
        if (former != null) {
            Thread closer = new Thread(() -> closeQuietly(former), "closer");
            closer.setDaemon(true);
            closer.start();
        }
    }

    @Override
    void arm(ScriptedTask task) {
        reaper.add(task);
    }

    @Override
    boolean advanceClock() throws Exception {
        return reaper.advanceClock(0);
    }

    @Override
    public void perform(JsonObject operation, JsonObject reply) {
        calledMs = Time.SYSTEM.hiResClockMs();
        super.perform(operation, reply);
    }

    @Override
    Call decode(JsonObject operation) {
        if (!Json.array(operation, "script").isEmpty()) {
            throw new Unsupported("tasks have no scripts on the real clock");
        }
        if (!Json.text(operation, "op").equals("wait")) {
            return super.decode(operation);
        }
        long forNs = TimeUnit.MILLISECONDS.toNanos(Json.integer(operation, "for_ms"));
        return () -> {
            TimeUnit.NANOSECONDS.sleep(forNs);
            return null;
        };
    }

    /** In the timer's own thread; a task of a former instance must not show in the present one. */
    @Override
    void run(ScriptedTask task) {
        JsonObject event = Events.event("ran", task.name());
        event.addProperty("at_ms", Time.SYSTEM.hiResClockMs());
        // Read before the question, so that a yes means the queue of the same instance.
        Queue<JsonObject> queue = happened;
        if (isPresent(task)) {
            queue.add(event);
        }
    }

    /** Events first, so that none of them lies after {@code returned_ms}. */
    @Override
    void observe(JsonObject reply) {
        JsonArray ran = new JsonArray();
        for (JsonObject event = happened.poll(); event != null; event = happened.poll()) {
            ran.add(event);
        }
        if (!ran.isEmpty()) {
            reply.add("events", ran);
        }
        reply.addProperty("called_ms", calledMs);
        reply.addProperty("returned_ms", Time.SYSTEM.hiResClockMs());
    }

    private static void closeQuietly(SystemTimerReaper former) {
        try {
            former.close();
        } catch (Exception failure) {
            System.err.println("a former timer did not close: " + failure);
        }
    }
}
