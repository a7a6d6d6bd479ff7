// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.kafka;

import com.google.gson.JsonObject;
import java.lang.reflect.Constructor;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.server.util.timer.Timer;

/** Kafka's MockTimer, which its own tests use for SystemTimer; found by name, in the test jars. */
final class MockedTimer extends TimerSubject {

    private final Constructor<?> makeTime;
    private final Constructor<?> makeTimer;
    private Time time;
    private Timer timer;

    MockedTimer() {
        try {
            Class<?> mockTime = Class.forName("org.apache.kafka.server.util.MockTime");
            makeTime = mockTime.getConstructor(long.class, long.class);
            makeTimer = Class.forName("org.apache.kafka.server.util.timer.MockTimer")
                    .getConstructor(mockTime);
        } catch (ReflectiveOperationException failure) {
            throw new IllegalStateException("build with the profile mock", failure);
        }
    }

    @Override
    String name() {
        return "Apache Kafka MockTimer";
    }

    @Override
    public JsonObject profile() {
        JsonObject profile = new JsonObject();
        profile.addProperty("rounding", "down");
        profile.addProperty("clock", "manual");
        profile.addProperty("executor", "inline");
        profile.addProperty("structure", "any");
        profile.addProperty("negative_delay", "already_due");
        profile.add("largest_delay_ms", Json.integer(LARGEST_DELAY_MS));
        profile.add("features", Json.words(
                "cancel", "readd", "elapse", "script_throw", "script_add", "script_cancel",
                "int64"));
        profile.add("observables", Json.words("advance_result", "size"));
        return profile;
    }

    @Override
    void open(TimerSizes sizes) throws ReflectiveOperationException {
        long startNs = TimeUnit.MILLISECONDS.toNanos(sizes.startMs());
        Object mockTime = makeTime.newInstance(sizes.startMs(), startNs);
        time = (Time) mockTime;
        timer = (Timer) makeTimer.newInstance(mockTime);
    }

    @Override
    public void close() {
        time = null;
        timer = null;
    }

    @Override
    void arm(ScriptedTask task) {
        timer.add(task);
    }

    @Override
    boolean advanceClock() throws Exception {
        return timer.advanceClock(0);
    }

    @Override
    Call decode(JsonObject operation) {
        switch (Json.text(operation, "op")) {
            case "elapse" -> {
                long toMs = Json.integer(operation, "to_ms");
                return () -> {
                    time.sleep(toMs - time.milliseconds());
                    return null;
                };
            }
            case "advance" -> {
                long toMs = Json.integer(operation, "to_ms");
                return () -> truth(timer.advanceClock(toMs - time.milliseconds()));
            }
            default -> {
                return super.decode(operation);
            }
        }
    }

    @Override
    void observe(JsonObject reply) {
        JsonObject observed = new JsonObject();
        observed.addProperty("size", timer.size());
        reply.add("observed", observed);
    }
}
