// SPDX-License-Identifier: CC0-1.0
package adapter;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** An instance that is made, asked step by step, and dropped. */
abstract class Case {
    /** This implementation has no such operation. */
    static final class Unsupported extends RuntimeException {}

    /** A name that stands for nothing. */
    static final class UnknownName extends RuntimeException {}

    private List<Map<String, Object>> events = new ArrayList<>();
    private final Map<String, WeakReference<Object>> dropped = new HashMap<>();

    /** Calls the implementation; the result, or null where there is none. */
    abstract Object call(Protocol.Operation asked) throws Exception;

    /** Reads the declared observables. */
    abstract Map<String, Object> observed();

    /** Each exception by which the implementation refuses, as a word of the protocol. */
    abstract Map<Class<? extends Throwable>, String> reasons();

    /** Has another thread make a call, while the callback that asks for it stands still. */
    void meanwhile(Runnable call) {
        throw new Unsupported();
    }

    /** Waits for what another thread still does in this step. */
    void settle() {}

    /** Reads a clock that moves by itself; null where the runner moves it. */
    Long nowMs() {
        return null;
    }

    final void note(String kind, String task) {
        note(kind, task, Map.of());
    }

    /** Notes an event with further fields; any thread may. */
    final synchronized void note(String kind, String task, Map<String, Object> more) {
        Map<String, Object> event = new LinkedHashMap<>(more);
        event.put("kind", kind);
        event.put("task", task);
        events.add(event);
    }

    /** Drops the object of a name, for good; does anybody else still hold it? */
    final boolean isReachable(Map<String, ?> named, String name) {
        if (named.containsKey(name)) {
            dropped.put(name, new WeakReference<>(named.remove(name)));
        }
        WeakReference<Object> left = dropped.getOrDefault(name, new WeakReference<>(null));
        for (int tries = 0; tries < 3 && left.get() != null; tries++) {
            System.gc();
        }
        return left.get() != null;
    }

    /** The protocol's word for a refusal; "internal" for an exception that nobody planned. */
    final String reason(Throwable error) {
        return error instanceof UnknownName ? "unknown_name" : reasons().getOrDefault(error.getClass(), "internal");
    }

    /** Carries out a step; the outcome with result or rejection, events and observables. */
    Map<String, Object> carryOut(Protocol.Operation asked) {
        Map<String, Object> outcome = new LinkedHashMap<>();
        Long calledMs = nowMs();
        try {
            Object result = call(asked);
            if (result != null) {
                outcome.put("result", result);
            }
        } catch (Unsupported none) {
            return Map.of("unsupported", "there is no operation " + asked.op() + " here");
        } catch (Exception | Error error) {
            outcome.put("rejected", reason(error));
            outcome.put("detail", error.toString());
        }
        settle();
        if (calledMs != null) {
            outcome.put("called_ms", calledMs);
            outcome.put("returned_ms", nowMs());
        }
        outcome.put("observed", observed());
        synchronized (this) {
            outcome.put("events", events);
            events = new ArrayList<>();
        }
        return outcome;
    }
}
