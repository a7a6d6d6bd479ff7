// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.kafka;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Method;
import java.util.concurrent.atomic.AtomicInteger;

/** Fluss's purgatory, on a timer whose executor is stepped; a pass of its reaper is a step. */
final class SteppedPurgatory {

    final ReleasedPurgatory released;
    final SteppedExecutor executor;
    final WatcherLists lists;
    private final MethodHandle advanceClock;
    private final AtomicInteger estimate;

    SteppedPurgatory(TimerSizes sizes, int purgeInterval, boolean timeOuts, Events events) {
        if (!timeOuts) {
            throw new Unsupported("every operation has a time-out here");
        }
        ReleasedTimer timer = new ReleasedTimer(sizes);
        executor = new SteppedExecutor(operation -> events.record("expired", operation.name()));
        executor.replaceIn(timer.timer());
        released = new ReleasedPurgatory("conformance", timer.timer(), purgeInterval);
        Object purgatory = released.purgatory();
        lists = new WatcherLists(purgatory);
        estimate = (AtomicInteger) Private.read(purgatory, "estimatedTotalOperations");
        advanceClock = advanceClock(released.reaper());
    }

    /** One pass of Fluss's reaper, which never waits on this timer. */
    void advance() throws Throwable {
        advanceClock.invoke();
    }

    void close() {
        released.shutdown();
    }

    int estimate() {
        return estimate.get();
    }

    private static MethodHandle advanceClock(Object reaper) {
        try {
            Method method = reaper.getClass().getDeclaredMethod("advanceClock");
            method.setAccessible(true);
            return MethodHandles.lookup().unreflect(method).bindTo(reaper);
        } catch (ReflectiveOperationException failure) {
            throw new IllegalStateException(Private.OTHER_RELEASE, failure);
        }
    }
}
