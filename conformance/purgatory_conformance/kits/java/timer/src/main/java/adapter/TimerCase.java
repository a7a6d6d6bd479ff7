// SPDX-License-Identifier: CC0-1.0
package adapter;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;

/** The timer behind the protocol: each step becomes a call. Change names until it calls yours. */
final class TimerCase extends Case {
    /** What is not declared here is neither asked for nor compared. */
    static final Map<String, Object> PROFILE = Map.of(
            "executor", Main.stepped ? "stepped" : "inline",
            "severe_throw", "as_ordinary",
            "features", features(),
            "observables", List.of("size", "queued", "advance_result"));

    /** The executor takes nothing, as one whose queue is full. */
    private static final class Refused extends RuntimeException {}

    private final HeapTimer<Script> timer;
    private final Map<String, Script> tasks = new HashMap<>(); // of each name an object of its own
    private final Queue<Script> queue = new ArrayDeque<>(); // the executor's: expired, not yet run
    private boolean refuses; // whether the executor does

    TimerCase(Protocol.Configuration asked) {
        timer = new HeapTimer<>(asked.tickMs(), asked.startMs()); // a wheel takes asked.wheelSize(), too
    }

    private static List<String> features() {
        List<String> offered = new ArrayList<>(List.of(
                "cancel", "readd", "change_delay", "elapse", "shutdown", "script_throw", "script_throw_severe",
                "script_add", "script_cancel", "script_advance", "reachable"));
        if (Main.stepped) {
            offered.add("refuse");
        }
        return offered;
    }

    @Override
    Map<Class<? extends Throwable>, String> reasons() {
        return Map.of(
                HeapTimer.TooLarge.class, "too_large",
                HeapTimer.Closed.class, "closed",
                Refused.class, "refused");
    }

    private Script task(String name) {
        return tasks.computeIfAbsent(name, none -> new Script(this, name));
    }

    /** Calls what a step, or an action of a task, asks for. */
    @Override
    Object call(Protocol.Operation asked) {
        switch (asked.op()) {
            case "add" -> add(task(asked.task()), asked);
            case "cancel" -> timer.cancel(task(asked.task()));
            case "reachable" -> {
                return isReachable(tasks, asked.task());
            }
            case "elapse" -> timer.elapse(asked.toMs());
            case "advance" -> {
                return advance(asked);
            }
            case "run_one" -> runOne();
            case "shutdown" -> timer.shutDown();
            default -> throw new Unsupported();
        }
        return null;
    }

    private void add(Script task, Protocol.Operation asked) {
        List<Protocol.Action> former = task.actions;
        if (!asked.inside()) { // the script of a step replaces it, and none is an empty one
            task.actions = asked.actions();
        }
        try {
            timer.add(task, asked.delayMs());
        } catch (RuntimeException refused) { // nothing has changed
            task.actions = former;
            throw refused;
        }
    }

    private boolean advance(Protocol.Operation asked) {
        if (asked.toMs() != null) { // that of a script has no reading: the clock keeps its own
            timer.elapse(asked.toMs());
        }
        refuses = asked.refuse();
        boolean expiredAny = timer.advance(this::handOver);
        while (!Main.stepped && !queue.isEmpty()) {
            runOne();
        }
        return expiredAny;
    }

    private void handOver(Script task) {
        if (refuses) {
            throw new Refused();
        }
        queue.add(task);
        if (Main.stepped) {
            note("expired", task.name);
        }
    }

    private void runOne() {
        Script task = queue.poll();
        try {
            if (task != null) {
                task.ran();
            }
        } catch (Script.Thrown | Script.ThrownSeverely thrown) {
            return; // it reaches nobody
        }
    }

    @Override
    Map<String, Object> observed() {
        return Map.of("size", timer.size(), "queued", queue.size());
    }
}
