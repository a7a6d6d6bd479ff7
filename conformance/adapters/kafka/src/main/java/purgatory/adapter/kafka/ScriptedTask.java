// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.kafka;

import com.google.gson.JsonArray;
import java.util.function.Consumer;
import org.apache.kafka.server.util.timer.TimerTask;

/** A named task of Kafka's; what it does when it runs is up to the subject that made it. */
final class ScriptedTask extends TimerTask {

    /** What the action {@code throw} throws; without stack trace, which nobody reads. */
    static final class ScriptFailure extends RuntimeException {
        private static final long serialVersionUID = 1;

        ScriptFailure() {
            super("the script says so", null, false, false);
        }
    }

    final String name;
    private final Consumer<ScriptedTask> body;
    private JsonArray script = new JsonArray(0);

    ScriptedTask(String name, long delayMs, Consumer<ScriptedTask> body) {
        super(delayMs);
        this.name = name;
        this.body = body;
    }

    JsonArray script() {
        return script;
    }

    void setScript(JsonArray actions) {
        script = actions;
    }

    @Override
    public void run() {
        body.accept(this);
    }
}
