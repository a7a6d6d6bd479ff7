// SPDX-License-Identifier: CC0-1.0
package adapter;

import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.PriorityQueue;
import java.util.function.Consumer;

/** A naive timer on a heap, of tasks by the tick in which they are due: put yours in its place. It knows nothing of the protocol. */
final class HeapTimer<T> {
    /** A delay that is too large. */
    static final class TooLarge extends RuntimeException {}

    /** Nothing is added after shutdown. */
    static final class Closed extends RuntimeException {}

    /** A profile promises this limit if it names no other. */
    private static final long LARGEST_DELAY_MS = Integer.MAX_VALUE;

    private record Arming<T>(long dueTick, long number, T task) {}

    private final long tickMs;
    private final PriorityQueue<Arming<T>> heap =
            new PriorityQueue<>(Comparator.<Arming<T>>comparingLong(Arming::dueTick).thenComparingLong(Arming::number));
    private final Map<T, Long> pending = new HashMap<>(); // its arming; what else the heap holds is stale
    private long armings;
    private boolean closed;
    private long nowMs; // a virtual clock: somebody else moves it

    HeapTimer(long tickMs, long startMs) {
        this.tickMs = tickMs;
        this.nowMs = startMs;
    }

    void elapse(long toMs) {
        nowMs = toMs;
    }

    void add(T task, long delayMs) {
        if (closed) {
            throw new Closed();
        }
        if (delayMs > LARGEST_DELAY_MS) {
            throw new TooLarge();
        }
        long expiryMs = nowMs + delayMs;
        long dueTick = expiryMs - Math.floorMod(expiryMs, tickMs); // rounding "down", the default
        pending.put(task, ++armings); // an earlier arming of the task becomes stale
        heap.add(new Arming<>(dueTick, armings, task));
        sweep();
    }

    void cancel(T task) {
        pending.remove(task); // an unknown task is no error
        sweep();
    }

    /** Rebuilds the heap when more than half is stale: stale entries would stay until due. */
    private void sweep() {
        if (heap.size() > 2 * pending.size()) {
            heap.removeIf(each -> !Objects.equals(pending.get(each.task()), each.number()));
        }
    }

    /** Hands over what is due to an executor; what that refuses by an exception stays here. */
    boolean advance(Consumer<T> executor) {
        boolean expiredAny = false;
        while (!heap.isEmpty() && heap.peek().dueTick() <= nowMs) {
            Arming<T> due = heap.peek();
            if (Objects.equals(pending.get(due.task()), due.number())) {
                executor.accept(due.task());
                pending.remove(due.task());
                expiredAny = true;
            }
            heap.poll();
        }
        return expiredAny;
    }

    void shutDown() {
        closed = true;
        heap.clear();
        pending.clear();
    }

    int size() {
        return pending.size();
    }

    /** The entries of the heap, stale ones among them. */
    int kept() {
        return heap.size();
    }
}
