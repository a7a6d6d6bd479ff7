// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.kafka;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Field;
import java.util.concurrent.DelayQueue;
import java.util.concurrent.Delayed;
import org.apache.kafka.server.util.timer.SystemTimer;
import org.apache.kafka.server.util.timer.TimerTask;
import org.apache.kafka.server.util.timer.TimingWheel;

/** The private parts of Kafka's timer that are read, and the one that is written. */
final class Internals {

    private static final MethodHandles.Lookup LOOKUP = MethodHandles.lookup();
    private static final Field ENTRY = Private.field(TimerTask.class, "timerTaskEntry");
    private static final MethodHandle DELAY_QUEUE =
            getter(SystemTimer.class, "delayQueue", DelayQueue.class);
    private static final MethodHandle WHEEL =
            getter(SystemTimer.class, "timingWheel", TimingWheel.class);
    private static final MethodHandle CURRENT_TIME =
            getter(TimingWheel.class, "currentTimeMs", long.class);
    private static final MethodHandle OVERFLOW_WHEEL =
            getter(TimingWheel.class, "overflowWheel", TimingWheel.class);
    private static final MethodHandle EXPIRATION = expiration();

    private Internals() {
    }

    /** Makes the timer take the task for a cancelled one, without any lock that it may hold. */
    static void forgetEntry(TimerTask task) {
        try {
            ENTRY.set(task, null);
        } catch (IllegalAccessException failure) {
            throw new IllegalStateException(failure);
        }
    }

    static DelayQueue<?> delayQueue(SystemTimer timer) {
        try {
            return (DelayQueue<?>) DELAY_QUEUE.invokeExact(timer);
        } catch (Throwable failure) {
            throw new IllegalStateException(failure);
        }
    }

    static long expirationMs(Delayed bucket) {
        try {
            return (long) EXPIRATION.invokeExact(bucket);
        } catch (Throwable failure) {
            throw new IllegalStateException(failure);
        }
    }

    static TimingWheel wheel(SystemTimer timer) {
        try {
            return (TimingWheel) WHEEL.invokeExact(timer);
        } catch (Throwable failure) {
            throw new IllegalStateException(failure);
        }
    }

    static long currentTimeMs(TimingWheel wheel) {
        try {
            return (long) CURRENT_TIME.invokeExact(wheel);
        } catch (Throwable failure) {
            throw new IllegalStateException(failure);
        }
    }

    static int levels(TimingWheel lowest) {
        try {
            int levels = 0;
            for (TimingWheel wheel = lowest;
                    wheel != null;
                    wheel = (TimingWheel) OVERFLOW_WHEEL.invokeExact(wheel)) {
                levels++;
            }
            return levels;
        } catch (Throwable failure) {
            throw new IllegalStateException(failure);
        }
    }

    private static MethodHandle getter(Class<?> owner, String name, Class<?> type) {
        try {
            return LOOKUP.unreflectGetter(Private.field(owner, name))
                    .asType(MethodType.methodType(type, owner));
        } catch (IllegalAccessException failure) {
            throw new IllegalStateException(failure);
        }
    }

    private static MethodHandle expiration() {
        try {
            Class<?> bucket = Private.type("org.apache.kafka.server.util.timer.TimerTaskList");
            return MethodHandles.privateLookupIn(bucket, LOOKUP)
                    .findVirtual(bucket, "getExpiration", MethodType.methodType(long.class))
                    .asType(MethodType.methodType(long.class, Delayed.class));
        } catch (ReflectiveOperationException failure) {
            throw new IllegalStateException("this release of Kafka is built otherwise", failure);
        }
    }
}
