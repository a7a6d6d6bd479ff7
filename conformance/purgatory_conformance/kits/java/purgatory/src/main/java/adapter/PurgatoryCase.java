// SPDX-License-Identifier: CC0-1.0
package adapter;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** The purgatory behind the protocol: each step becomes a call. Change names until it calls yours. */
final class PurgatoryCase extends Case {
    /** What is not declared here is neither asked for nor compared. */
    static final Map<String, Object> PROFILE = Map.of(
            "accounting", "exact",
            "check_drops", "as_passed",
            "throwing_try", "go_on",
            "release_cancelled", "at_once",
            "severe_throw", "as_ordinary",
            "executor", Main.stepped ? "stepped" : "inline",
            "features", features(),
            "observables", List.of(
                    "entries", "keys", "stale_entries", "timer_size", "queued", "pending", "estimate",
                    "callback_timer_size"));

    /** An operation that follows a script. */
    private final class ScriptedOperation extends NaivePurgatory.DelayedOperation {
        private final OperationScript script;

        ScriptedOperation(long delayMs, OperationScript script) {
            super(delayMs);
            this.script = script;
        }

        @Override
        boolean tryComplete() {
            return script.tried(this::forceComplete);
        }

        @Override
        void onComplete() {
            callbackTimerSize = timer.size();
            script.completed();
        }

        @Override
        void onExpiration() {
            script.timedOut();
        }
    }

    private final NaivePurgatory.TimeOuts timer;
    private final NaivePurgatory purgatory;
    private final Map<String, ScriptedOperation> operations = new ConcurrentHashMap<>();
    private final OtherThread otherThread = new OtherThread();
    private volatile Integer callbackTimerSize; // as the last onComplete of a step began

    PurgatoryCase(Protocol.Configuration asked) {
        timer = new NaivePurgatory.TimeOuts(asked.tickMs(), asked.startMs());
        purgatory = new NaivePurgatory(timer, asked.purgeInterval(), asked.timeOuts());
    }

    private static List<String> features() {
        List<String> offered = new ArrayList<>(List.of(
                "force", "cancel_for_key", "rewatch", "duplicate_keys", "elapse", "shutdown", "no_time_outs",
                "script_throw", "script_throw_severe", "script_watch", "script_check", "script_cancel_for_key",
                "script_force", "script_try", "script_meanwhile", "script_crosswise", "reachable"));
        if (Main.stepped) {
            offered.add("refuse");
        }
        return offered;
    }

    @Override
    Map<Class<? extends Throwable>, String> reasons() {
        return Map.of(
                Script.Thrown.class, "thrown",
                Script.ThrownSeverely.class, "thrown",
                IllegalArgumentException.class, "invalid_argument",
                NaivePurgatory.Closed.class, "closed",
                NaivePurgatory.Refused.class, "refused");
    }

    @Override
    void meanwhile(Runnable call) {
        otherThread.call(call);
    }

    @Override
    void settle() {
        otherThread.endStep();
    }

    /** The operation of a name; the step that introduces the name gives the script. */
    private ScriptedOperation named(Protocol.Operation asked) {
        return operations.computeIfAbsent(asked.operation(), name ->
                new ScriptedOperation(asked.delayMs(), new OperationScript(this, name, asked.script())));
    }

    /** Calls what a step, or an action of a callback, asks for. */
    @Override
    Object call(Protocol.Operation asked) {
        switch (asked.op()) {
            case "watch" -> {
                return purgatory.tryCompleteElseWatch(named(asked), asked.keys());
            }
            case "check" -> {
                return purgatory.checkAndComplete(asked.key());
            }
            case "cancel_for_key" -> {
                return purgatory.cancelForKey(asked.key()).stream()
                        .map(each -> ((ScriptedOperation) each).script.name)
                        .toList();
            }
            case "force" -> {
                return named(asked).forceComplete();
            }
            case "satisfy" -> named(asked).script.satisfied = true;
            case "elapse" -> timer.nowMs = asked.toMs();
            case "advance" -> {
                timer.nowMs = asked.toMs();
                purgatory.refuses = asked.refuse();
                advance();
            }
            case "run_one" -> runOne();
            case "reachable" -> {
                return isReachable(operations, asked.task());
            }
            case "shutdown" -> purgatory.shutDown();
            default -> throw new Unsupported();
        }
        return null;
    }

    private void advance() {
        for (NaivePurgatory.DelayedOperation each : purgatory.advance()) {
            if (Main.stepped) {
                note("expired", ((ScriptedOperation) each).script.name);
            }
        }
        while (!Main.stepped && purgatory.queued() > 0) {
            runOne();
        }
        purgatory.purgeIfDue();
    }

    private void runOne() {
        try {
            purgatory.runOne();
        } catch (Script.Thrown | Script.ThrownSeverely thrown) {
            return; // it reaches nobody
        }
    }

    @Override
    Map<String, Object> observed() {
        int pending = timer.size() + purgatory.queued();
        int stale = purgatory.staleEntries();
        Map<String, Object> counts = new HashMap<>(Map.of(
                "entries", purgatory.entries(),
                "keys", purgatory.keys(),
                "stale_entries", stale,
                "timer_size", timer.size(),
                "queued", purgatory.queued(),
                "pending", pending,
                "estimate", pending + stale));
        counts.put("callback_timer_size", callbackTimerSize);
        callbackTimerSize = null;
        return counts;
    }
}
