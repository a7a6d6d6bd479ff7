// SPDX-License-Identifier: CC0-1.0
package adapter;

import com.google.gson.FieldNamingPolicy;
import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonElement;
import com.google.gson.annotations.SerializedName;
import java.util.List;

/** The messages of the runner. What they mean is written in the adapter protocol. */
final class Protocol {
    private Protocol() {}

    static final Gson JSON = new GsonBuilder()
            .setFieldNamingPolicy(FieldNamingPolicy.LOWER_CASE_WITH_UNDERSCORES)
            .serializeNulls()
            .create();

    record Request(String request, long id, String component, Configuration configuration, Operation operation) {}

    /** What is absent has its default value. */
    record Configuration(
            Long tickMs, Integer wheelSize, long startMs, Integer purgeInterval, Boolean timeOuts,
            Long sizeBytes, Long maxSingleBytes, boolean strict, boolean unbounded) {
        Configuration {
            tickMs = tickMs == null ? 1L : tickMs;
            wheelSize = wheelSize == null ? 20 : wheelSize;
            purgeInterval = purgeInterval == null ? 1000 : purgeInterval;
            timeOuts = timeOuts == null || timeOuts;
            sizeBytes = sizeBytes == null ? 100L : sizeBytes;
            maxSingleBytes = maxSingleBytes == null ? 40L : maxSingleBytes;
        }
    }

    /** A step, or an action of a callback, which is inside one. */
    record Operation(
            String op, String task, long delayMs, Long toMs, long forMs, boolean refuse,
            String operation, String key, List<String> keys, @SerializedName("script") JsonElement written,
            String buffer, String form, long sizeBytes, long maxSingleBytes, boolean fail, int value,
            boolean inside) {
        /** The script of a task. */
        List<Action> actions() {
            return written == null ? List.of() : List.of(JSON.fromJson(written, Action[].class));
        }

        /** The script of an operation. */
        Script script() {
            return written == null ? NO_SCRIPT : JSON.fromJson(written, Script.class);
        }
    }

    /** What an operation under test does when it is tried or completed. */
    record Script(
            List<String> tries, List<List<Action>> onTry, List<Action> onComplete, List<Action> onExpiration) {
        Script {
            tries = tries == null ? List.of() : tries;
            onTry = onTry == null ? List.of() : onTry;
            onComplete = onComplete == null ? List.of() : onComplete;
            onExpiration = onExpiration == null ? List.of() : onExpiration;
        }
    }

    static final Script NO_SCRIPT = new Script(null, null, null, null);

    record Action(
            @SerializedName("do") String kind, String task, String operation, String key, List<String> keys,
            long delayMs, String sort, Action call) {
        Operation asStep() {
            return new Operation(
                    kind, task, delayMs, null, 0, false, operation, key, keys, null, null, null, 0, 0, false, 0, true);
        }
    }
}
