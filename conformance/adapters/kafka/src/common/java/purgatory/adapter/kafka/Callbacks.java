// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.kafka;

import java.util.List;
import java.util.function.BooleanSupplier;

/** The calls that a purgatory makes on one delayed operation, answered as its script has them. */
final class Callbacks {

    /** Carries the actions of a callback out. */
    interface Stage {
        void play(String running, List<CallbackAction> actions);

        /** Called as {@code on_complete} begins. */
        void completed();
    }

    final String name;
    private final OperationScript script;
    private final Events events;
    private final Stage stage;
    private int tries;
    private volatile boolean satisfied;

    Callbacks(String name, OperationScript script, Events events, Stage stage) {
        this.name = name;
        this.script = script;
        this.events = events;
        this.stage = stage;
    }

    void satisfy() {
        satisfied = true;
    }

    boolean tried(BooleanSupplier forceComplete) {
        events.record("tried", name);
        int number = tries++;
        OperationScript.Answer answer =
                satisfied ? OperationScript.Answer.COMPLETE : script.answer(number);
        stage.play(name, script.actions(number));
        return switch (answer) {
            case WAIT -> false;
            case COMPLETE -> forceComplete.getAsBoolean();
            case THROW -> throw new ScriptFailure();
            case THROW_SEVERE -> throw new SevereScriptFailure();
        };
    }

    void completed() {
        events.record("completed", name);
        stage.completed();
        stage.play(name, script.onComplete());
    }

    void timedOut() {
        events.record("timed_out", name);
        stage.play(name, script.onExpiration());
    }
}
