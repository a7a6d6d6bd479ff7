// SPDX-License-Identifier: CC0-1.0
package adapter;

import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.PriorityQueue;
import java.util.function.Consumer;

/** A naive timer with a thread of its own: put yours in its place. It knows nothing of the protocol. */
final class TickingTimer implements AutoCloseable {
    /** A delay that is too large. */
    static final class TooLarge extends RuntimeException {}

    /** A profile promises this limit if it names no other. */
    private static final long LARGEST_DELAY_MS = Integer.MAX_VALUE;

    private static final long FOR_EVER_MS = Long.MAX_VALUE / 1_000_000;

    private record Arming(long dueMs, long number, String task) {}

    private final Ticks clock;
    private final Consumer<String> run;
    private final PriorityQueue<Arming> heap =
            new PriorityQueue<>(Comparator.comparingLong(Arming::dueMs).thenComparingLong(Arming::number));
    private final Map<String, Long> pending = new HashMap<>(); // its arming; what else the heap holds is stale
    private final Thread thread = new Thread(this::work, "timer");
    private long armings;

    TickingTimer(Ticks clock, Consumer<String> run) {
        this.clock = clock;
        this.run = run;
        thread.setDaemon(true);
        thread.start();
    }

    synchronized void add(String task, long delayMs) {
        if (delayMs > LARGEST_DELAY_MS) {
            throw new TooLarge();
        }
        pending.put(task, ++armings); // an earlier arming of the task becomes stale
        heap.add(new Arming(clock.nowMs() + delayMs, armings, task));
        sweep();
        notifyAll();
    }

    synchronized void cancel(String task) {
        pending.remove(task); // an unknown task is no error
        sweep();
    }

    /** Rebuilds the heap when more than half is stale: stale entries would stay until due. */
    private void sweep() {
        if (heap.size() > 2 * pending.size()) {
            heap.removeIf(each -> !Objects.equals(pending.get(each.task()), each.number()));
        }
    }

    synchronized int size() {
        return pending.size();
    }

    /** The entries of the heap, stale ones among them. */
    synchronized int kept() {
        return heap.size();
    }

    private synchronized void work() {
        try {
            while (true) {
                long waitMs = heap.isEmpty() ? FOR_EVER_MS : heap.peek().dueMs() - clock.nowMs();
                if (waitMs > 0) {
                    clock.await(this, waitMs);
                    continue;
                }
                Arming due = heap.poll();
                if (pending.remove(due.task(), due.number())) {
                    run.accept(due.task());
                }
            }
        } catch (InterruptedException closed) {
            pending.clear();
        }
    }

    @Override
    public void close() {
        thread.interrupt();
    }
}
