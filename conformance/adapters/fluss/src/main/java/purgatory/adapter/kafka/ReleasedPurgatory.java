// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.kafka;

import java.util.List;
import java.util.Map;
import org.apache.fluss.server.replica.delay.DelayedOperationManager;
import org.apache.fluss.server.utils.timer.Timer;
import org.apache.fluss.server.utils.timer.TimerTask;
import org.apache.fluss.utils.concurrent.ShutdownableThread;

/** Fluss's {@code DelayedOperationManager}, its reaper ended, on a timer that is stepped. */
final class ReleasedPurgatory {

    /** The end of the name of the class that holds the operations of one key. */
    static final String WATCHERS = "$Watcher";

    /** Operations always have time-outs here. */
    static final boolean MAY_HAVE_NO_TIME_OUTS = false;

    /** A timer that never waits, and leaves out the empty task that wakes a reaper at its end. */
    private record NeverWaiting(Timer timer) implements Timer {
        @Override
        public void add(TimerTask task) {
            if (task instanceof Named) {
                timer.add(task);
            }
        }

        @Override
        public boolean advanceClock(long waitMs) throws InterruptedException {
            return timer.advanceClock(0);
        }

        @Override
        public int numOfTimerTasks() {
            return timer.numOfTimerTasks();
        }

        @Override
        public void shutdown() {
            timer.shutdown();
        }
    }

    private final DelayedOperationManager<ScriptedOperation> purgatory;

    /** The manager makes a timer and starts a reaper itself; both are replaced before any use. */
    ReleasedPurgatory(String name, Timer timer, int purgeInterval) {
        purgatory = new DelayedOperationManager<>(name, 0, purgeInterval);
        end((ShutdownableThread) reaper());
        ((Timer) Private.read(purgatory, "timeoutTimer")).shutdown();
        Private.write(purgatory, "timeoutTimer", new NeverWaiting(timer));
    }

    /** A shard of the watcher lists as a map from keys. */
    static Map<?, ?> watchersByKey(Object field) {
        return (Map<?, ?>) field;
    }

    Object purgatory() {
        return purgatory;
    }

    Object reaper() {
        return Private.read(purgatory, "expirationReaper");
    }

    boolean tryCompleteElseWatch(ScriptedOperation operation, List<String> keys) {
        return purgatory.tryCompleteElseWatch(operation, List.copyOf(keys));
    }

    int checkAndComplete(String key) {
        return purgatory.checkAndComplete(key);
    }

    List<ScriptedOperation> cancelForKey(String key) {
        return purgatory.cancelForKey(key);
    }

    int numDelayed() {
        return purgatory.numDelayed();
    }

    void shutdown() {
        purgatory.shutdown();
    }

    /** It waits for 200 ms at most, or until it is interrupted. */
    private static void end(ShutdownableThread reaper) {
        reaper.initiateShutdown();
        reaper.interrupt();
        try {
            reaper.awaitShutdown();
        } catch (InterruptedException interrupted) {
            throw new IllegalStateException(interrupted);
        }
    }
}
