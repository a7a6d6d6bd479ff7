// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.kafka;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Field;
import java.util.concurrent.DelayQueue;
import java.util.concurrent.Delayed;

/** The private parts of the released timer that are read, and the one that is written. */
final class Internals {

    private static final MethodHandles.Lookup LOOKUP = MethodHandles.lookup();
    private static final Class<?> WHEEL_TYPE = type("TimingWheel");
    private static final Field ENTRY = Private.field(type("TimerTask"), "timerTaskEntry");
    private static final MethodHandle DELAY_QUEUE =
            getter(type(ReleasedTimer.TYPE), "delayQueue", DelayQueue.class);
    private static final MethodHandle WHEEL =
            getter(type(ReleasedTimer.TYPE), "timingWheel", Object.class);
    private static final MethodHandle CURRENT_TIME =
            getter(WHEEL_TYPE, ReleasedTimer.CURRENT_TIME, long.class);
    private static final MethodHandle OVERFLOW_WHEEL =
            getter(WHEEL_TYPE, "overflowWheel", Object.class);
    private static final MethodHandle EXPIRATION = expiration();

    private Internals() {
    }

    /** Makes the timer take the task for a cancelled one, without any lock that it may hold. */
    static void forgetEntry(ScriptedTask task) {
        try {
            ENTRY.set(task, null);
        } catch (IllegalAccessException failure) {
            throw new IllegalStateException(failure);
        }
    }

    static DelayQueue<?> delayQueue(Object timer) {
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

    static Object wheel(Object timer) {
        try {
            return (Object) WHEEL.invokeExact(timer);
        } catch (Throwable failure) {
            throw new IllegalStateException(failure);
        }
    }

    static long currentTimeMs(Object wheel) {
        try {
            return (long) CURRENT_TIME.invokeExact(wheel);
        } catch (Throwable failure) {
            throw new IllegalStateException(failure);
        }
    }

    static int levels(Object lowest) {
        try {
            int levels = 0;
            for (Object wheel = lowest;
                    wheel != null;
                    wheel = (Object) OVERFLOW_WHEEL.invokeExact(wheel)) {
                levels++;
            }
            return levels;
        } catch (Throwable failure) {
            throw new IllegalStateException(failure);
        }
    }

    private static Class<?> type(String name) {
        return Private.type(ReleasedTimer.PACKAGE + name);
    }

    private static MethodHandle getter(Class<?> owner, String name, Class<?> type) {
        try {
            return LOOKUP.unreflectGetter(Private.field(owner, name))
                    .asType(MethodType.methodType(type, Object.class));
        } catch (IllegalAccessException failure) {
            throw new IllegalStateException(failure);
        }
    }

    private static MethodHandle expiration() {
        try {
            Class<?> bucket = type("TimerTaskList");
            return MethodHandles.privateLookupIn(bucket, LOOKUP)
                    .findVirtual(bucket, "getExpiration", MethodType.methodType(long.class))
                    .asType(MethodType.methodType(long.class, Delayed.class));
        } catch (ReflectiveOperationException failure) {
            throw new IllegalStateException(Private.OTHER_RELEASE, failure);
        }
    }
}
