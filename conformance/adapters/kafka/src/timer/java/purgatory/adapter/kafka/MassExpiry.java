// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.kafka;

import com.google.gson.JsonObject;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Lets many operations expire together in a purgatory as a server has it, and prints what stays.
 *
 * <p>Nothing is replaced: real clock, own reaper and executor, default purge interval. Each round
 * has a purgatory of its own and prints one line of JSON once nothing changes any more.
 */
public final class MassExpiry {

    private static final int KEYS = 1000;
    private static final long LEAD_MS = 1000;
    private static final long QUIET_MS = 1000;
    private static final long EXPIRED_WITHIN_S = 30;

    private MassExpiry() {
    }

    public static void main(String[] arguments) throws Exception {
        int rounds = Integer.parseInt(arguments[0]);
        int operations = Integer.parseInt(arguments[1]);
        for (int number = 1; number <= rounds; number++) {
            System.out.println(round(number, operations));
        }
    }

    private static JsonObject round(int number, int operations) throws Exception {
        RunningPurgatory purgatory = new RunningPurgatory("mass-expiry-" + number);
        try {
            CountDownLatch expired = new CountDownLatch(operations);
            watch(purgatory, operations, expired);
            if (!expired.await(EXPIRED_WITHIN_S, TimeUnit.SECONDS)) {
                throw new IllegalStateException(expired.getCount() + " operations never expired");
            }
            awaitQuiet(purgatory);
            return found(purgatory, number);
        } finally {
            purgatory.shutdown();
        }
    }

    private static void watch(RunningPurgatory purgatory, int operations, CountDownLatch expired) {
        long dueNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(LEAD_MS);
        for (int i = 0; i < operations; i++) {
            long delayMs = TimeUnit.NANOSECONDS.toMillis(dueNs - System.nanoTime());
            purgatory.watch(delayMs, "key-" + i % KEYS, expired::countDown);
        }
    }

    /** Waits until the reaper, which comes every 200 ms, has left the lists alone for a while. */
    private static void awaitQuiet(RunningPurgatory purgatory) throws InterruptedException {
        int before = -1;
        while (before != purgatory.watched()) {
            before = purgatory.watched();
            TimeUnit.MILLISECONDS.sleep(QUIET_MS);
        }
    }

    private static JsonObject found(RunningPurgatory purgatory, int number) {
        JsonObject found = new JsonObject();
        found.addProperty("round", number);
        found.addProperty("entries", purgatory.watched());
        found.addProperty("timer_size", purgatory.numDelayed());
        found.addProperty("estimate", purgatory.estimate());
        found.addProperty("purge_interval", purgatory.purgeInterval());
        return found;
    }
}
