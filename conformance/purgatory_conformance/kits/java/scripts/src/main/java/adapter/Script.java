// SPDX-License-Identifier: CC0-1.0
package adapter;

import java.util.List;
import java.util.Map;

/** What a task under test does when it runs: a task of yours calls this. */
class Script {
    /** What a script throws. */
    static final class Thrown extends RuntimeException {}

    /** What a script throws that a handler of exceptions does not catch. */
    static final class ThrownSeverely extends Error {}

    final String name;
    final Case owner;
    List<Protocol.Action> actions = List.of();

    Script(Case owner, String name) {
        this.owner = owner;
        this.name = name;
    }

    final void ran() {
        owner.note("ran", name);
        act(actions);
    }

    final void act(List<Protocol.Action> actions) {
        for (Protocol.Action action : actions) {
            switch (action.kind()) {
                case "throw" -> {
                    if ("severe".equals(action.sort())) {
                        throw new ThrownSeverely();
                    }
                    throw new Thrown();
                }
                case "meanwhile" -> owner.meanwhile(() -> act(action.call()));
                default -> act(action);
            }
        }
    }

    private void act(Protocol.Action action) {
        try {
            owner.call(action.asStep());
        } catch (Exception | Error error) { // it does not end the script
            owner.note("rejected", name, Map.of("reason", owner.reason(error)));
        }
    }
}
