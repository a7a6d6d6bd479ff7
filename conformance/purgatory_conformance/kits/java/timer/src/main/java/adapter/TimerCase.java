// SPDX-License-Identifier: CC0-1.0
package adapter;

import java.util.List;
import java.util.Map;

/** The timer behind the protocol: each step becomes a call. Change names until it calls yours. */
final class TimerCase extends Case {
    /** What is not declared here is neither asked for nor compared. */
    static final Map<String, Object> PROFILE = Map.of(
            "features", List.of("cancel", "readd", "change_delay", "elapse"),
            "observables", List.of("size", "advance_result"));

    private final HeapTimer timer;

    TimerCase(Protocol.Configuration asked) {
        timer = new HeapTimer(asked.tickMs(), asked.startMs());
    }

    @Override
    Map<Class<? extends Exception>, String> reasons() {
        return Map.of(HeapTimer.TooLarge.class, "too_large");
    }

    @Override
    Object call(Protocol.Operation asked) {
        switch (asked.op()) {
            case "add" -> timer.add(asked.task(), asked.delayMs());
            case "cancel" -> timer.cancel(asked.task());
            case "elapse" -> timer.elapse(asked.toMs());
            case "advance" -> {
                timer.elapse(asked.toMs());
                return timer.advance(task -> note("ran", task));
            }
            default -> throw new Unsupported();
        }
        return null;
    }

    @Override
    Map<String, Object> observed() {
        return Map.of("size", timer.size());
    }
}
