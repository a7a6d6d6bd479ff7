// SPDX-License-Identifier: CC0-1.0
package adapter;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.function.BooleanSupplier;

/** What an operation under test does: an operation of yours calls these from its callbacks. */
final class OperationScript extends Script {
    volatile boolean satisfied;
    private final Deque<String> tries;
    private final Deque<List<Protocol.Action>> onTry;
    private final Protocol.Script asked;

    OperationScript(Case owner, String name, Protocol.Script asked) {
        super(owner, name);
        this.asked = asked;
        tries = new ArrayDeque<>(asked.tries());
        onTry = new ArrayDeque<>(asked.onTry());
    }

    /** A try: it completes the operation where the script says so. */
    boolean tried(BooleanSupplier complete) {
        String answer;
        boolean completes;
        List<Protocol.Action> actions;
        synchronized (this) { // two threads may try at once
            owner.note("tried", name);
            answer = tries.isEmpty() ? "wait" : tries.size() > 1 ? tries.remove() : tries.peek();
            completes = satisfied || answer.equals("complete"); // settled before the actions
            actions = onTry.isEmpty() ? List.of() : onTry.remove();
        }
        act(actions);
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
        act(asked.onComplete());
    }

    void timedOut() {
        owner.note("timed_out", name);
        act(asked.onExpiration());
    }
}
