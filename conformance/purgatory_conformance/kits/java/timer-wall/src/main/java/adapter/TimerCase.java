// SPDX-License-Identifier: CC0-1.0
package adapter;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The timer behind the protocol: each step becomes a call. Change names until it calls yours.
 *
 * <p>On the real clock time passes in "wait". With --virtual the runner moves the clock of the same timer.
 */
final class TimerCase extends Case {
    /** What is not declared here is neither asked for nor compared. */
    static final Map<String, Object> PROFILE = Map.of(
            "rounding", "exact",
            "executor", "thread",
            "clock", Main.virtual ? "manual" : "wall",
            "features", List.of("cancel", "readd", "change_delay"),
            "observables", List.of("size"));

    private static TickingTimer former; // its thread ends when the next case begins

    private final Ticks clock;
    private final TickingTimer timer;

    TimerCase(Protocol.Configuration asked) {
        if (former != null) {
            former.close();
        }
        clock = Main.virtual ? new Ticks.Virtual(asked.startMs()) : Ticks.REAL;
        timer = new TickingTimer(clock, this::ran);
        former = timer;
    }

    @Override
    Map<Class<? extends Throwable>, String> reasons() {
        return Map.of(TickingTimer.TooLarge.class, "too_large");
    }

    private void ran(String task) {
        Map<String, Object> more = new LinkedHashMap<>();
        if (!Main.virtual) {
            more.put("at_ms", clock.nowMs());
        }
        note("ran", task, more);
    }

    @Override
    Long nowMs() {
        return Main.virtual ? null : clock.nowMs();
    }

    @Override
    Object call(Protocol.Operation asked) throws InterruptedException {
        switch (asked.op()) {
            case "add" -> timer.add(asked.task(), asked.delayMs());
            case "cancel" -> timer.cancel(asked.task());
            case "wait" -> Thread.sleep(asked.forMs());
            case "advance" -> ((Ticks.Virtual) clock).moveTo(asked.toMs());
            default -> throw new Unsupported();
        }
        if (clock instanceof Ticks.Virtual still) {
            still.settle(timer); // until nothing is left to do at this time
        }
        return null;
    }

    @Override
    Map<String, Object> observed() {
        return Map.of("size", timer.size());
    }
}
