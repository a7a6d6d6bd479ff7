// SPDX-License-Identifier: CC0-1.0
package adapter;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The purgatory behind the protocol: each step becomes a call. Change names until it calls yours. */
final class PurgatoryCase extends Case {
    /** What is not declared here is neither asked for nor compared. */
    static final Map<String, Object> PROFILE = Map.of(
            "accounting", "exact",
            "check_drops", "as_passed",
            "throwing_try", "go_on",
            "release_cancelled", "at_once",
            "severe_throw", "as_ordinary",
            "features", List.of(
                    "force", "cancel_for_key", "rewatch", "duplicate_keys", "elapse", "shutdown", "no_time_outs",
                    "script_throw", "script_throw_severe", "script_watch", "script_check",
                    "script_cancel_for_key", "script_force", "script_try", "reachable"),
            "observables", List.of("entries", "keys", "stale_entries", "timer_size", "pending", "estimate"));

    /** An operation that follows a script. */
    private static final class ScriptedOperation extends NaivePurgatory.DelayedOperation {
        private final Scripted script;

        ScriptedOperation(long delayMs, Scripted script) {
            super(delayMs);
            this.script = script;
        }

        @Override
        boolean tryComplete() {
            return script.tried(this::forceComplete);
        }

        @Override
        void onComplete() {
            script.completed();
        }

        @Override
        void onExpiration() {
            script.timedOut();
        }
    }

    private final NaivePurgatory.TimeOuts timer;
    private final NaivePurgatory purgatory;
    private final Map<String, ScriptedOperation> operations = new HashMap<>();

    PurgatoryCase(Protocol.Configuration asked) {
        timer = new NaivePurgatory.TimeOuts(asked.tickMs(), asked.startMs());
        purgatory = new NaivePurgatory(timer, asked.purgeInterval(), asked.timeOuts());
    }

    @Override
    Map<Class<? extends Throwable>, String> reasons() {
        return Map.of(
                Scripted.Thrown.class, "thrown",
                Scripted.ThrownSeverely.class, "thrown",
                IllegalArgumentException.class, "invalid_argument",
                NaivePurgatory.Closed.class, "closed");
    }

    /** The operation of a name; the step that introduces the name gives the script. */
    private ScriptedOperation named(Protocol.Operation asked) {
        return operations.computeIfAbsent(asked.operation(), name ->
                new ScriptedOperation(asked.delayMs(), new Scripted(this, name, asked.script())));
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
                purgatory.advance();
            }
            case "reachable" -> {
                return isReachable(operations, asked.task());
            }
            case "shutdown" -> purgatory.shutDown();
            default -> throw new Unsupported();
        }
        return null;
    }

    @Override
    Map<String, Object> observed() {
        int pending = timer.size();
        int stale = purgatory.staleEntries();
        return Map.of(
                "entries", purgatory.entries(),
                "keys", purgatory.keys(),
                "stale_entries", stale,
                "timer_size", pending,
                "pending", pending,
                "estimate", pending + stale);
    }
}
