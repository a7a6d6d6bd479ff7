// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.kafka;

import java.util.List;
import java.util.Map;
import org.apache.kafka.server.purgatory.DelayedOperationKey;
import org.apache.kafka.server.purgatory.DelayedOperationPurgatory;
import org.apache.kafka.server.util.timer.SystemTimer;
import org.apache.kafka.server.util.timer.Timer;

/** Kafka's purgatory as releases from 4.0 have it: Java, and keys of a type of their own. */
final class ReleasedPurgatory {

    /** The end of the name of the class that holds the operations of one key. */
    static final String WATCHERS = "$Watchers";

    /** A constructor's argument says whether operations have time-outs. */
    static final boolean MAY_HAVE_NO_TIME_OUTS = true;

    private record Key(String name) implements DelayedOperationKey {
        @Override
        public String keyLabel() {
            return name;
        }
    }

    private final DelayedOperationPurgatory<ScriptedOperation> purgatory;

    /** Without reaper: its passes are steps. */
    ReleasedPurgatory(String name, Object timer, int purgeInterval, boolean timeOuts) {
        purgatory = new DelayedOperationPurgatory<>(
                name, (Timer) timer, 0, purgeInterval, false, timeOuts);
    }

    static Object timer(TimerSizes sizes) {
        return new SystemTimer("conformance", sizes.tickMs(), sizes.wheelSize(), sizes.startMs());
    }

    /** A shard of the watcher lists as a map from keys. */
    static Map<?, ?> watchersByKey(Object field) {
        return (Map<?, ?>) field;
    }

    Object purgatory() {
        return purgatory;
    }

    boolean tryCompleteElseWatch(ScriptedOperation operation, List<String> keys) {
        return purgatory.tryCompleteElseWatch(operation, keys.stream().map(Key::new).toList());
    }

    int checkAndComplete(String key) {
        return purgatory.checkAndComplete(new Key(key));
    }

    List<ScriptedOperation> cancelForKey(String key) {
        return purgatory.cancelForKey(new Key(key));
    }

    int numDelayed() {
        return purgatory.numDelayed();
    }

    void shutdown() throws Exception {
        purgatory.shutdown();
    }
}
