// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.kafka;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.random.RandomGenerator;
import java.util.SplittableRandom;

/**
 * Threads that use one instance of Kafka's at random until enough lines are written.
 *
 * <p>Without a writer they do the same and record nothing, until enough calls were made: that is
 * what the cost of recording is compared with.
 */
abstract class Workload implements AutoCloseable {

    /** What a run is asked for; a rate of 0 is as fast as it goes. */
    record Wish(int threads, long lines, int keys, long seed, long ratePerSecond) {
    }

    /** One turn of one thread. */
    private static final long PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(1);

    private static final double MEAN_DELAY_MS = 40;
    private static final int LONGEST_MS = 3000;

    final TraceWriter writer;
    final Wish wish;
    private final AtomicLong names = new AtomicLong();
    private final AtomicLong turns = new AtomicLong();
    private final AtomicReference<Throwable> failure = new AtomicReference<>();
    private volatile boolean stopped;

    Workload(TraceWriter writer, Wish wish) {
        this.writer = writer;
        this.wish = wish;
    }

    /** One or a few calls. */
    abstract void turn(RandomGenerator random);

    /** How many things wait in the instance; it is left alone above {@link #most}. */
    abstract int live();

    abstract int most();

    /** Lets all threads work until there are enough lines, or somebody says stop. */
    void run() throws InterruptedException {
        long beginNs = System.nanoTime();
        List<Thread> workers = new ArrayList<>();
        SplittableRandom seeds = new SplittableRandom(wish.seed());
        for (int number = 1; number <= wish.threads(); number++) {
            SplittableRandom random = seeds.split();
            Thread worker = new Thread(() -> work(random, beginNs), "worker-" + number);
            workers.add(worker);
            worker.start();
        }
        for (Thread worker : workers) {
            worker.join();
        }
        if (failure.get() != null) {
            throw new IllegalStateException("a worker failed", failure.get());
        }
    }

    void stop() {
        stopped = true;
    }

    long turns() {
        return turns.get();
    }

    private void work(RandomGenerator random, long beginNs) {
        try {
            while (!stopped && done() < wish.lines()) {
                if (isAheadOf(beginNs) || live() > most()) {
                    LockSupport.parkNanos(PAUSE_NS);
                } else {
                    turns.incrementAndGet();
                    turn(random);
                }
            }
        } catch (Throwable failed) {
            failure.compareAndSet(null, failed);
            stop();
        }
    }

    private long done() {
        return writer == null ? turns.get() : writer.lines();
    }

    private boolean isAheadOf(long beginNs) {
        if (wish.ratePerSecond() == 0) {
            return false;
        }
        double seconds = (System.nanoTime() - beginNs) / 1e9;
        return done() > seconds * wish.ratePerSecond();
    }

    String newName() {
        return Long.toString(names.incrementAndGet());
    }

    /** Mostly some tens of milliseconds; now and then already due, or far away. */
    static long delayMs(RandomGenerator random) {
        return switch (random.nextInt(20)) {
            case 0 -> random.nextInt(-5, 1);
            case 1 -> random.nextInt(LONGEST_MS);
            default -> (long) (-Math.log(1 - random.nextDouble()) * MEAN_DELAY_MS);
        };
    }
}
