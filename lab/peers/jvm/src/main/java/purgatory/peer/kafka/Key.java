// SPDX-License-Identifier: CC0-1.0
package purgatory.peer.kafka;

import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.server.purgatory.DelayedOperationKey;

/** A key that is its label. */
record Key(String keyLabel) implements DelayedOperationKey {

    static List<Key> make(int count) {
        List<Key> keys = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            keys.add(new Key("key-" + i));
        }
        return List.copyOf(keys);
    }
}
