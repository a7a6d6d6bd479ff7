// SPDX-License-Identifier: CC0-1.0
package adapter;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A naive purgatory: put yours in its place. It knows nothing of the protocol. */
final class NaivePurgatory {
    /** Nothing is watched after shutdown. */
    static final class Closed extends RuntimeException {}

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
            if (completed) {
                return false;
            }
            completed = true;
            if (timer != null) {
                timer.armed.remove(this);
            }
            onComplete();
            return true;
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
            return armed.size();
        }

        /** Takes out what is due at the clock's present reading. */
        List<DelayedOperation> advance() {
            List<DelayedOperation> due = armed.entrySet().stream()
                    .filter(each -> each.getValue().dueTick() <= nowMs)
                    .sorted(Map.Entry.comparingByValue(
                            Comparator.comparingLong(Armed::dueTick).thenComparingLong(Armed::number)))
                    .map(Map.Entry::getKey)
                    .toList();
            due.forEach(armed::remove);
            return due;
        }
    }

    private final TimeOuts timer;
    private final int purgeInterval;
    private final boolean timeOuts;
    private final Map<String, List<DelayedOperation>> lists = new LinkedHashMap<>();
    private boolean closed;

    NaivePurgatory(TimeOuts timer, int purgeInterval, boolean timeOuts) {
        this.timer = timer;
        this.purgeInterval = purgeInterval;
        this.timeOuts = timeOuts;
    }

    boolean tryCompleteElseWatch(DelayedOperation operation, Collection<String> keys) {
        if (closed) {
            throw new Closed();
        }
        if (keys.isEmpty()) {
            throw new IllegalArgumentException("an operation needs a key to be watched under");
        }
        if (operation.completed) {
            return false;
        }
        boolean answer = operation.tryComplete();
        if (answer || operation.completed) {
            return answer;
        }
        for (String key : keys) {
            lists.computeIfAbsent(key, none -> new ArrayList<>()).add(operation);
        }
        if (timeOuts) {
            timer.add(operation); // before the second try, which may throw
        }
        return operation.tryComplete();
    }

    /** Tries what waits under the key; the first exception is thrown after all were tried. */
    int checkAndComplete(String key) {
        int completed = 0;
        Throwable first = null;
        for (DelayedOperation operation : List.copyOf(lists.getOrDefault(key, List.of()))) {
            if (!operation.completed) {
                try {
                    completed += operation.tryComplete() ? 1 : 0;
                } catch (RuntimeException | Error error) { // an error, too, is thrown in the end
                    first = first == null ? error : first;
                }
            }
            if (operation.completed) { // only the entry that is met goes now, not those passed before
                lists.computeIfPresent(key, (same, list) -> {
                    list.remove(operation);
                    return list.isEmpty() ? null : list;
                });
            }
        }
        if (first instanceof Error error) {
            throw error;
        }
        if (first instanceof RuntimeException error) {
            throw error;
        }
        return completed;
    }

    List<DelayedOperation> cancelForKey(String key) {
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

    /** Completes what is due, and purges if there are too many stale entries. */
    void advance() {
        if (closed) {
            return;
        }
        for (DelayedOperation operation : timer.advance()) {
            try {
                if (operation.forceComplete()) {
                    operation.onExpiration();
                }
            } catch (RuntimeException | Error error) {
                continue; // what a callback throws at a time-out reaches nobody
            }
        }
        if (staleEntries() > purgeInterval) {
            lists.values().forEach(list -> list.removeIf(operation -> operation.completed));
            lists.values().removeIf(List::isEmpty);
        }
    }

    void shutDown() {
        closed = true;
    }

    int entries() {
        return lists.values().stream().mapToInt(List::size).sum();
    }

    int keys() {
        return lists.size();
    }

    int staleEntries() {
        return (int) lists.values().stream().flatMap(List::stream).filter(each -> each.completed).count();
    }
}
