// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.kafka;

import com.google.gson.JsonObject;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.server.purgatory.DelayedOperation;
import org.apache.kafka.server.purgatory.DelayedOperationKey;
import org.apache.kafka.server.purgatory.DelayedOperationPurgatory;

/**
 * Lets many operations expire together in a purgatory as a broker has it, and prints what stays.
 *
 * <p>Nothing is replaced: real clock, own reaper and executor, default purge interval. Each round
 * has a purgatory of its own and prints one line of JSON once nothing changes any more.
 */
public final class MassExpiry {

    private static final int KEYS = 1000;
    private static final long LEAD_MS = 1000;
    private static final long QUIET_MS = 1000;
    private static final long EXPIRED_WITHIN_S = 30;

    private record Key(String keyLabel) implements DelayedOperationKey {
    }

    /** An operation that nothing but its time-out completes. */
    private static final class Waiting extends DelayedOperation {

        private final CountDownLatch running;

        Waiting(long delayMs, CountDownLatch running) {
            super(delayMs);
            this.running = running;
        }

        @Override
        public boolean tryComplete() {
            return false;
        }

        @Override
        public void onComplete() {
            // Only that it has expired matters here.
        }

        @Override
        public void onExpiration() {
            running.countDown();
        }
    }

    private MassExpiry() {
    }

    public static void main(String[] arguments) throws Exception {
        if (VirtualClock.isKafkasClock()) {
            throw new IllegalStateException("leave the folder of the shadowing class out");
        }
        int rounds = Integer.parseInt(arguments[0]);
        int operations = Integer.parseInt(arguments[1]);
        for (int number = 1; number <= rounds; number++) {
            System.out.println(round(number, operations));
        }
    }

    private static JsonObject round(int number, int operations) throws Exception {
        DelayedOperationPurgatory<Waiting> purgatory =
                new DelayedOperationPurgatory<>("mass-expiry-" + number, 0);
        try {
            CountDownLatch running = new CountDownLatch(operations);
            watch(purgatory, operations, running);
            if (!running.await(EXPIRED_WITHIN_S, TimeUnit.SECONDS)) {
                throw new IllegalStateException(running.getCount() + " operations never expired");
            }
            awaitQuiet(purgatory);
            return found(purgatory, number);
        } finally {
            purgatory.shutdown();
        }
    }

    private static void watch(
            DelayedOperationPurgatory<Waiting> purgatory, int operations, CountDownLatch running) {
        long dueMs = Time.SYSTEM.hiResClockMs() + LEAD_MS;
        for (int i = 0; i < operations; i++) {
            Waiting operation = new Waiting(dueMs - Time.SYSTEM.hiResClockMs(), running);
            purgatory.tryCompleteElseWatch(operation, List.of(new Key("key-" + i % KEYS)));
        }
    }

    /** Waits until the reaper, which comes every 200 ms, has left the lists alone for a while. */
    private static void awaitQuiet(DelayedOperationPurgatory<Waiting> purgatory)
            throws InterruptedException {
        int before = -1;
        while (before != purgatory.watched()) {
            before = purgatory.watched();
            TimeUnit.MILLISECONDS.sleep(QUIET_MS);
        }
    }

    private static JsonObject found(DelayedOperationPurgatory<Waiting> purgatory, int number) {
        JsonObject found = new JsonObject();
        found.addProperty("round", number);
        found.addProperty("entries", purgatory.watched());
        found.addProperty("timer_size", purgatory.numDelayed());
        found.addProperty("estimate",
                ((AtomicInteger) Private.read(purgatory, "estimatedTotalOperations")).get());
        found.addProperty("purge_interval", (int) Private.read(purgatory, "purgeInterval"));
        return found;
    }
}
