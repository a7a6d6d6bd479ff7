// SPDX-License-Identifier: CC0-1.0
package adapter;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;

/**
 * A naive purgatory: put yours in its place. It knows nothing of the protocol.
 *
 * <p>Any thread may call it: there is one lock, which nobody holds while a callback runs.
 */
final class NaivePurgatory {
    /** Nothing is watched after shutdown. */
    static final class Closed extends RuntimeException {}

    /** The executor takes nothing, as one whose queue is full. */
    static final class Refused extends RuntimeException {}

    private static final Object LOCK = new Object();

    /** Something that can be completed once: by an event, or else by its time-out. */
    abstract static class DelayedOperation {
        private final long delayMs;
        private boolean completed;
        private TimeOuts timer; // that it was armed in

        DelayedOperation(long delayMs) {
            this.delayMs = delayMs;
        }

        /** Completes it with forceComplete if it can be, and says whether it did. */
        abstract boolean tryComplete();

        /** Called once, whoever completes the operation. */
        abstract void onComplete();

        /** Called after onComplete if it was the time-out. */
        abstract void onExpiration();

        /** Completes it; false if somebody else already has. */
        final boolean forceComplete() {
            synchronized (LOCK) {
                if (completed) {
                    return false;
                }
                completed = true;
                if (timer != null) {
                    timer.armed.remove(this);
                }
            }
            onComplete();
            return true;
        }

        private boolean isCompleted() {
            synchronized (LOCK) {
                return completed;
            }
        }
    }

    /** Operations by the tick in which they are due; a clock that somebody else moves. */
    static final class TimeOuts {
        private record Armed(long dueTick, long number) {}

        private final long tickMs;
        private final Map<DelayedOperation, Armed> armed = new HashMap<>();
        private long armings;
        long nowMs;

        TimeOuts(long tickMs, long startMs) {
            this.tickMs = tickMs;
            this.nowMs = startMs;
        }

        void add(DelayedOperation operation) {
            operation.timer = this;
            long expiryMs = nowMs + operation.delayMs;
            long dueTick = expiryMs - Math.floorMod(expiryMs, tickMs);
            armed.put(operation, new Armed(dueTick, armings++)); // moves it, if it was armed before
        }

        int size() {
            synchronized (LOCK) {
                return armed.size();
            }
        }

        /** What is due at the clock's present reading. */
        private List<DelayedOperation> due() {
            return armed.entrySet().stream()
                    .filter(each -> each.getValue().dueTick() <= nowMs)
                    .sorted(Map.Entry.comparingByValue(
                            Comparator.comparingLong(Armed::dueTick).thenComparingLong(Armed::number)))
                    .map(Map.Entry::getKey)
                    .toList();
        }
    }

    private final TimeOuts timer;
    private final int purgeInterval;
    private final boolean timeOuts;
    private final Map<String, List<DelayedOperation>> lists = new LinkedHashMap<>();
    private final Queue<DelayedOperation> queue = new ArrayDeque<>(); // the executor's: expired, not yet run
    boolean refuses; // whether the executor does
    private boolean closed;

    NaivePurgatory(TimeOuts timer, int purgeInterval, boolean timeOuts) {
        this.timer = timer;
        this.purgeInterval = purgeInterval;
        this.timeOuts = timeOuts;
    }

    boolean tryCompleteElseWatch(DelayedOperation operation, Collection<String> keys) {
        synchronized (LOCK) {
            if (closed) {
                throw new Closed();
            }
        }
        if (keys.isEmpty()) {
            throw new IllegalArgumentException("an operation needs a key to be watched under");
        }
        if (operation.isCompleted()) {
            return false;
        }
        boolean answer = operation.tryComplete();
        synchronized (LOCK) {
            if (answer || operation.completed) {
                return answer;
            }
            for (String key : keys) {
                lists.computeIfAbsent(key, none -> new ArrayList<>()).add(operation);
            }
            if (timeOuts) {
                timer.add(operation); // before the second try, which may throw
            }
        }
        return operation.tryComplete();
    }

    /** Tries what waits under the key; the first exception is thrown after all were tried. */
    int checkAndComplete(String key) {
        int completed = 0;
        Throwable first = null;
        for (DelayedOperation operation : watched(key)) {
            if (!operation.isCompleted()) {
                try {
                    completed += operation.tryComplete() ? 1 : 0;
                } catch (RuntimeException | Error error) { // an error, too, is thrown in the end
                    first = first == null ? error : first;
                }
            }
            dropIfCompleted(operation, key);
        }
        if (first instanceof Error error) {
            throw error;
        }
        if (first instanceof RuntimeException error) {
            throw error;
        }
        return completed;
    }

    private List<DelayedOperation> watched(String key) {
        synchronized (LOCK) {
            return List.copyOf(lists.getOrDefault(key, List.of()));
        }
    }

    /** Takes out the entry that is met, and not those passed before; a callback may have taken it. */
    private void dropIfCompleted(DelayedOperation operation, String key) {
        synchronized (LOCK) {
            if (operation.completed) {
                lists.computeIfPresent(key, (same, list) -> {
                    list.remove(operation);
                    return list.isEmpty() ? null : list;
                });
            }
        }
    }

    List<DelayedOperation> cancelForKey(String key) {
        synchronized (LOCK) {
            List<DelayedOperation> cancelled = lists.remove(key);
            if (cancelled == null) {
                return List.of();
            }
            for (DelayedOperation operation : cancelled) {
                if (lists.values().stream().noneMatch(list -> list.contains(operation))) {
                    timer.armed.remove(operation);
                }
            }
            return cancelled;
        }
    }

    /**
     * Hands over what is due to the executor, and answers it; runOne runs it, purgeIfDue follows.
     *
     * <p>What the executor refuses stays in the timer, and the next advance hands it over.
     */
    List<DelayedOperation> advance() {
        synchronized (LOCK) {
            List<DelayedOperation> due = closed ? List.of() : timer.due();
            if (refuses && !due.isEmpty()) {
                throw new Refused();
            }
            due.forEach(timer.armed::remove);
            queue.addAll(due);
            return due;
        }
    }

    /** Runs the operation that has waited longest for the executor; false where none waits. */
    boolean runOne() {
        DelayedOperation first;
        synchronized (LOCK) {
            first = queue.poll();
        }
        if (first != null && first.forceComplete()) {
            first.onExpiration();
        }
        return first != null;
    }

    void purgeIfDue() {
        synchronized (LOCK) {
            if (staleEntries() > purgeInterval) {
                lists.values().forEach(list -> list.removeIf(operation -> operation.completed));
                lists.values().removeIf(List::isEmpty);
            }
        }
    }

    void shutDown() {
        synchronized (LOCK) {
            closed = true;
        }
    }

    int entries() {
        synchronized (LOCK) {
            return lists.values().stream().mapToInt(List::size).sum();
        }
    }

    int keys() {
        synchronized (LOCK) {
            return lists.size();
        }
    }

    int queued() {
        synchronized (LOCK) {
            return queue.size();
        }
    }

    int staleEntries() {
        synchronized (LOCK) {
            return (int) lists.values().stream().flatMap(List::stream).filter(each -> each.completed).count();
        }
    }
}
