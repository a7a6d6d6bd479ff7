// SPDX-License-Identifier: CC0-1.0
package adapter;

import com.google.gson.annotations.SerializedName;
import java.util.List;

/** The messages of the runner. What they mean is written in the adapter protocol. */
final class Protocol {
    private Protocol() {}

    record Request(String request, long id, String component, Configuration configuration, Operation operation) {}

    /** What is absent has its default value. */
    record Configuration(
            Long tickMs, long startMs, Integer purgeInterval, Boolean timeOuts,
            Long sizeBytes, Long maxSingleBytes, boolean strict, boolean unbounded) {
        Configuration {
            tickMs = tickMs == null ? 1L : tickMs;
            purgeInterval = purgeInterval == null ? 1000 : purgeInterval;
            timeOuts = timeOuts == null || timeOuts;
            sizeBytes = sizeBytes == null ? 100L : sizeBytes;
            maxSingleBytes = maxSingleBytes == null ? 40L : maxSingleBytes;
        }
    }

    record Operation(
            String op, String task, long delayMs, long toMs, long forMs,
            String operation, String key, List<String> keys, Script script,
            String buffer, String form, long sizeBytes, long maxSingleBytes, boolean fail, int value) {}

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
            @SerializedName("do") String kind, String operation, String key, List<String> keys, long delayMs,
            String sort) {
        Operation asStep() {
            return new Operation(kind, null, delayMs, 0, 0, operation, key, keys, NO_SCRIPT, null, null, 0, 0, false, 0);
        }
    }
}
