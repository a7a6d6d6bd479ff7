// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.kafka;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Method;
import java.util.concurrent.atomic.AtomicInteger;

/** Kafka's purgatory without its reaper, on a timer whose executor is stepped. */
final class SteppedPurgatory {

    private static int made;

    final ReleasedPurgatory released;
    final SteppedExecutor executor;
    final WatcherLists lists;
    private final MethodHandle advanceClock;
    private final AtomicInteger estimate;

    /** Its gauges are registered by name, so that each one needs a name of its own. */
    SteppedPurgatory(
            TimerSizes sizes, int purgeInterval, boolean timeOuts, Events events) {
        made++;
        Object timer = ReleasedPurgatory.timer(sizes);
        executor = new SteppedExecutor(operation -> events.record("expired", operation.name()));
        executor.replaceIn(timer);
        released = new ReleasedPurgatory("conformance-" + made, timer, purgeInterval, timeOuts);
        Object purgatory = released.purgatory();
        lists = new WatcherLists(purgatory);
        estimate = (AtomicInteger) Private.read(purgatory, "estimatedTotalOperations");
        advanceClock = advanceClock(purgatory);
    }

    /** One pass of Kafka's reaper, which never waits on the virtual clock. */
    void advance() throws Throwable {
        advanceClock.invoke(0L);
    }

    /** Removes the gauges; after a shutdown there are none any more. */
    void close() {
        try {
            released.shutdown();
        } catch (Exception failure) {
            System.err.println("a former purgatory did not shut down: " + failure);
        }
    }

    int estimate() {
        return estimate.get();
    }

    private static MethodHandle advanceClock(Object purgatory) {
        try {
            Method method = purgatory.getClass().getDeclaredMethod("advanceClock", long.class);
            method.setAccessible(true);
            return MethodHandles.lookup().unreflect(method).bindTo(purgatory);
        } catch (ReflectiveOperationException failure) {
            throw new IllegalStateException("this release of Kafka is built otherwise", failure);
        }
    }
}
