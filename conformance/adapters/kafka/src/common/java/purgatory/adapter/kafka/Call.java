// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.kafka;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.util.function.Function;

/** A call into the released classes; its value, or null, is the result of the step. */
interface Call {

    JsonElement call() throws Throwable;

    /** Makes the call and writes what came of it; what the adapter lacks is no rejection. */
    default void attempt(JsonObject reply, Function<Throwable, String> reason) {
        try {
            JsonElement result = call();
            if (result != null) {
                reply.add("result", result);
            }
        } catch (Unsupported | AdapterFailure | OutOfMemoryError own) {
            throw own;
        } catch (Throwable failure) {
            Rejection.write(reply, reason.apply(failure), failure.getClass().getName());
        }
    }
}
