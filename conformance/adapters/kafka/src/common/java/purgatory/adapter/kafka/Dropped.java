// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.kafka;

import com.google.gson.JsonPrimitive;
import java.lang.ref.WeakReference;
import java.util.HashMap;
import java.util.Map;

/** Objects that a case has dropped: nobody here holds them any more. */
final class Dropped {

    private static final int COLLECTIONS = 3;

    private final Map<String, WeakReference<Object>> references = new HashMap<>();

    /** The call that drops the object of a name, and answers whether it still exists. */
    Call look(Map<String, ?> named, String name) {
        return () -> {
            if (named.containsKey(name)) {
                references.put(name, new WeakReference<>(named.remove(name)));
            }
            WeakReference<Object> left =
                    references.getOrDefault(name, new WeakReference<>(null));
            for (int i = 0; i < COLLECTIONS && left.get() != null; i++) {
                System.gc();
            }
            return new JsonPrimitive(left.get() != null);
        };
    }

    void clear() {
        references.clear();
    }
}
