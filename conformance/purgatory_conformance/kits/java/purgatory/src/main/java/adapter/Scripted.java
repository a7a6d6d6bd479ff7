// SPDX-License-Identifier: CC0-1.0
package adapter;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;

/** What an operation under test does: an operation of yours calls these from its callbacks. */
final class Scripted {
    /** What a script throws. */
    static final class Thrown extends RuntimeException {}

    /** What a script throws that a handler of exceptions does not catch. */
    static final class ThrownSeverely extends Error {}

    final String name;
    boolean satisfied;
    private final Case owner;
    private final Deque<String> tries;
    private final Deque<List<Protocol.Action>> onTry;
    private final Protocol.Script script;

    Scripted(Case owner, String name, Protocol.Script asked) {
        this.owner = owner;
        this.name = name;
        script = asked == null ? Protocol.NO_SCRIPT : asked;
        tries = new ArrayDeque<>(script.tries());
        onTry = new ArrayDeque<>(script.onTry());
    }

    /** A try: it completes the operation where the script says so. */
    boolean tried(BooleanSupplier complete) {
        owner.note("tried", name);
        String answer = tries.isEmpty() ? "wait" : tries.size() > 1 ? tries.remove() : tries.peek();
        boolean completes = satisfied || answer.equals("complete"); // settled before the actions
        if (!onTry.isEmpty()) {
            act(onTry.remove());
        }
        if (!completes && answer.equals("throw")) {
            throw new Thrown();
        }
        if (!completes && answer.equals("throw_severe")) {
            throw new ThrownSeverely();
        }
        return completes && complete.getAsBoolean();
    }

    void completed() {
        owner.note("completed", name);
        act(script.onComplete());
    }

    void timedOut() {
        owner.note("timed_out", name);
        act(script.onExpiration());
    }

    private void act(List<Protocol.Action> actions) {
        for (Protocol.Action action : actions) {
            if (action.kind().equals("throw")) {
                if ("severe".equals(action.sort())) {
                    throw new ThrownSeverely();
                }
                throw new Thrown();
            }
            try {
                owner.call(action.asStep());
            } catch (Exception | Error error) { // it does not end the script
                owner.note("rejected", name, Map.of("reason", owner.reason(error)));
            }
        }
    }
}
