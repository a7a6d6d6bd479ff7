// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.kafka;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import kafka.server.DelayedOperationPurgatory;
import scala.collection.JavaConverters;

/** Kafka's purgatory as releases before 4.0 have it: Scala, and any object as a key. */
final class ReleasedPurgatory {

    /** The end of the name of the class that holds the operations of one key. */
    static final String WATCHERS = "$Watchers";

    /** A constructor's argument says whether operations have time-outs. */
    static final boolean MAY_HAVE_NO_TIME_OUTS = true;

    /** The timer moved from Scala to Java with release 3.6. */
    private static final List<String> TIMERS = List.of(
            "org.apache.kafka.server.util.timer.SystemTimer", "kafka.utils.timer.SystemTimer");

    private final DelayedOperationPurgatory<ScriptedOperation> purgatory;

    /** Without reaper: its passes are steps. */
    @SuppressWarnings("unchecked")
    ReleasedPurgatory(String name, Object timer, int purgeInterval, boolean timeOuts) {
        try {
            purgatory = (DelayedOperationPurgatory<ScriptedOperation>)
                    DelayedOperationPurgatory.class.getConstructors()[0].newInstance(
                            name, timer, 0, purgeInterval, false, timeOuts);
        } catch (ReflectiveOperationException failure) {
            throw new IllegalStateException("this release of Kafka is built otherwise", failure);
        }
    }

    static Object timer(TimerSizes sizes) {
        try {
            return timerClass()
                    .getConstructor(String.class, long.class, int.class, long.class)
                    .newInstance("conformance", sizes.tickMs(), sizes.wheelSize(), sizes.startMs());
        } catch (ReflectiveOperationException failure) {
            throw new IllegalStateException("this release of Kafka is built otherwise", failure);
        }
    }

    /** A shard of the watcher lists as a map from keys, which a pool of Kafka's wraps. */
    static Map<?, ?> watchersByKey(Object field) {
        return (Map<?, ?>) Private.read(field, "kafka$utils$Pool$$pool");
    }

    Object purgatory() {
        return purgatory;
    }

    boolean tryCompleteElseWatch(ScriptedOperation operation, List<String> keys) {
        List<Object> objects = new ArrayList<>(keys);
        return purgatory.tryCompleteElseWatch(
                operation, JavaConverters.asScalaBuffer(objects).toList());
    }

    int checkAndComplete(String key) {
        return purgatory.checkAndComplete(key);
    }

    List<ScriptedOperation> cancelForKey(String key) {
        return JavaConverters.seqAsJavaList(purgatory.cancelForKey(key));
    }

    int numDelayed() {
        return purgatory.numDelayed();
    }

    void shutdown() {
        purgatory.shutdown();
    }

    private static Class<?> timerClass() throws ClassNotFoundException {
        try {
            return Class.forName(TIMERS.get(0));
        } catch (ClassNotFoundException older) {
            return Class.forName(TIMERS.get(1));
        }
    }
}
