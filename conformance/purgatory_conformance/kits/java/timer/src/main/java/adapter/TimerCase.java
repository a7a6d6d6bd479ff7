// SPDX-License-Identifier: CC0-1.0
package adapter;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The timer behind the protocol: each step becomes a call. Change names until it calls yours. */
final class TimerCase extends Case {
    /** What is not declared here is neither asked for nor compared. */
    static final Map<String, Object> PROFILE = Map.of(
            "features", List.of("cancel", "readd", "change_delay", "elapse", "reachable"),
            "observables", List.of("size", "advance_result"));

    private final HeapTimer timer;
    private final Map<String, String> tasks = new HashMap<>(); // of each name an object of its own

    TimerCase(Protocol.Configuration asked) {
        timer = new HeapTimer(asked.tickMs(), asked.startMs());
    }

    @Override
    Map<Class<? extends Throwable>, String> reasons() {
        return Map.of(HeapTimer.TooLarge.class, "too_large");
    }

    private String task(String name) {
        return tasks.computeIfAbsent(name, String::new);
    }

    @Override
    Object call(Protocol.Operation asked) {
        switch (asked.op()) {
            case "add" -> timer.add(task(asked.task()), asked.delayMs());
            case "cancel" -> timer.cancel(task(asked.task()));
            case "reachable" -> {
                return isReachable(tasks, asked.task());
            }
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
