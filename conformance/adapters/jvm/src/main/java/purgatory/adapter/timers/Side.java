// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.timers;

import com.google.gson.JsonObject;
import java.util.Map;

/** A subject as the loop sees it: what it says of itself, and what it does when asked. */
interface Side {
    String name();

    String source();

    /** Its profiles by component. */
    Map<String, Object> components();

    /** Makes an instance, which takes the place of another one. */
    void open(JsonObject configuration);

    /** Carries out an operation, and writes the outcome into the reply. */
    void carryOut(JsonObject operation, JsonObject reply);

    void end();
}
