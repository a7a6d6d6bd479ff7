// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.kafka;

import com.google.gson.JsonObject;

/** A part that the adapter offers: one instance at a time, and the operations on it. */
interface Component {

    JsonObject profile();

    /** Makes a fresh instance, which replaces the one before. */
    void open(JsonObject configuration) throws Exception;

    /** Lets go of the instance and all that it holds, without waiting for it. */
    void close();

    /** Carries one operation out and writes its outcome into the reply. */
    void perform(JsonObject operation, JsonObject reply);
}
