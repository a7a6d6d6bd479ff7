// SPDX-License-Identifier: CC0-1.0
package adapter;

import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.PriorityQueue;
import java.util.function.Consumer;

/** A naive timer on a heap: put yours in its place. It knows nothing of the protocol. */
final class HeapTimer {
    /** A delay that is too large. */
    static final class TooLarge extends RuntimeException {}

    /** What a profile that says nothing of it promises to accept. */
    private static final long LARGEST_DELAY_MS = Integer.MAX_VALUE;

    private record Arming(long dueTick, long number, String task) {}

    private final long tickMs;
    private final PriorityQueue<Arming> heap =
            new PriorityQueue<>(Comparator.comparingLong(Arming::dueTick).thenComparingLong(Arming::number));
    private final Map<String, Long> pending = new HashMap<>(); // its arming; what else the heap holds is stale
    private long armings;
    private long nowMs; // a virtual clock: somebody else moves it

    HeapTimer(long tickMs, long startMs) {
        this.tickMs = tickMs;
        this.nowMs = startMs;
    }

    void elapse(long toMs) {
        nowMs = toMs;
    }

    void add(String task, long delayMs) {
        if (delayMs > LARGEST_DELAY_MS) {
            throw new TooLarge();
        }
        long expiryMs = nowMs + delayMs;
        long dueTick = expiryMs - Math.floorMod(expiryMs, tickMs); // rounding "down", the default
        pending.put(task, ++armings); // an earlier arming of the task becomes stale
        heap.add(new Arming(dueTick, armings, task));
        sweep();
    }

    void cancel(String task) {
        pending.remove(task); // an unknown task is no error
        sweep();
    }

    /** Rebuilds the heap when more than half of it is stale, which else stays until it is due. */
    private void sweep() {
        if (heap.size() > 2 * pending.size()) {
            heap.removeIf(each -> !Objects.equals(pending.get(each.task()), each.number()));
        }
    }

    boolean advance(Consumer<String> run) {
        boolean ranAny = false;
        while (!heap.isEmpty() && heap.peek().dueTick() <= nowMs) {
            Arming due = heap.poll();
            if (pending.remove(due.task(), due.number())) {
                run.accept(due.task()); // at once, in this thread: the executor "inline", the default
                ranAny = true;
            }
        }
        return ranAny;
    }

    int size() {
        return pending.size();
    }

    /** The entries of the heap, stale ones among them. */
    int kept() {
        return heap.size();
    }
}
