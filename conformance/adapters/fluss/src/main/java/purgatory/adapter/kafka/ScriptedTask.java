// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.kafka;

import java.util.List;
import java.util.function.Consumer;
import org.apache.fluss.server.utils.timer.TimerTask;

/** A named task of Fluss's; what it does when it runs is up to the subject that made it. */
final class ScriptedTask extends TimerTask implements Named {

    private final String name;
    private final Consumer<ScriptedTask> body;
    private List<Action> script = List.of();

    ScriptedTask(String name, long delayMs, Consumer<ScriptedTask> body) {
        super(delayMs);
        this.name = name;
        this.body = body;
    }

    @Override
    public String name() {
        return name;
    }

    long delay() {
        return delayMs;
    }

    List<Action> script() {
        return script;
    }

    void setScript(List<Action> actions) {
        script = actions;
    }

    @Override
    public void run() {
        body.accept(this);
    }
}
