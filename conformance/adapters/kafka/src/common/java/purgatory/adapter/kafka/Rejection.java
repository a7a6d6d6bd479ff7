// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.kafka;

import com.google.gson.JsonObject;
import java.util.concurrent.RejectedExecutionException;

/** The protocol's reason for what came out of the released classes as an exception. */
final class Rejection {

    private Rejection() {
    }

    static String reason(Throwable failure) {
        if (failure instanceof ScriptFailure || failure instanceof SevereScriptFailure) {
            return "thrown";
        }
        if (failure instanceof Unsupported) {
            return "unsupported";
        }
        if (failure instanceof UnknownName) {
            return "unknown_name";
        }
        if (failure instanceof NoMemory) {
            return "no_memory";
        }
        if (failure instanceof RefusedTask) {
            return "refused";
        }
        if (failure instanceof RejectedExecutionException) {
            return "closed";
        }
        return failure instanceof IllegalArgumentException ? "invalid_argument" : "internal";
    }

    static void write(JsonObject reply, String reason, String detail) {
        reply.remove("result");
        reply.addProperty("rejected", reason);
        reply.addProperty("detail", detail);
    }
}
