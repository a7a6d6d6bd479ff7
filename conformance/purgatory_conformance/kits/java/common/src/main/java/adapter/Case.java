// SPDX-License-Identifier: CC0-1.0
package adapter;

import java.util.ArrayList;
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

    /** Calls the implementation; the result, or null where there is none. */
    abstract Object call(Protocol.Operation asked) throws Exception;

    /** Reads the declared observables. */
    abstract Map<String, Object> observed();

    /** Each exception by which the implementation refuses, as a word of the protocol. */
    abstract Map<Class<? extends Exception>, String> reasons();

    final void note(String kind, String task) {
        events.add(new LinkedHashMap<>(Map.of("kind", kind, "task", task)));
    }

    final void noteRejected(String task, Exception error) {
        note("rejected", task);
        events.get(events.size() - 1).put("reason", reason(error));
    }

    /** The protocol's word for a refusal; "internal" for an exception that nobody planned. */
    final String reason(Exception error) {
        return error instanceof UnknownName ? "unknown_name" : reasons().getOrDefault(error.getClass(), "internal");
    }

    /** Carries out a step; the outcome with result or rejection, events and observables. */
    Map<String, Object> carryOut(Protocol.Operation asked) {
        events = new ArrayList<>();
        Map<String, Object> outcome = new LinkedHashMap<>();
        try {
            Object result = call(asked);
            if (result != null) {
                outcome.put("result", result);
            }
        } catch (Unsupported none) {
            return Map.of("unsupported", "there is no operation " + asked.op() + " here");
        } catch (Exception error) {
            outcome.put("rejected", reason(error));
            outcome.put("detail", error.toString());
        }
        outcome.put("events", events);
        outcome.put("observed", observed());
        return outcome;
    }
}
