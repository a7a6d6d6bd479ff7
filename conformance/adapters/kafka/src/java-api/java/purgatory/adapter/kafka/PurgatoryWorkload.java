// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.kafka;

import java.util.List;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.server.purgatory.DelayedOperation;
import org.apache.kafka.server.purgatory.DelayedOperationKey;
import org.apache.kafka.server.purgatory.DelayedOperationPurgatory;
import org.apache.kafka.server.util.timer.SystemTimer;

/** Operations are watched, satisfied, checked, forced and cancelled, each by any thread. */
final class PurgatoryWorkload extends Workload {

    private static final int SLOTS = 512;
    private static final int MOST = 5_000;
    private static final int MOST_KEYS = 3;

    private record Key(String keyLabel) implements DelayedOperationKey {
    }

    private final class Operation extends DelayedOperation {
        private final String name = newName();
        private final List<Key> keys;
        private volatile boolean ready;

        Operation(long delayMs, List<Key> keys) {
            super(delayMs);
            this.keys = keys;
        }

        @Override
        public boolean tryComplete() {
            event("tried");
            return ready && super.forceComplete();
        }

        @Override
        public void onComplete() {
            event("completed");
        }

        @Override
        public void onExpiration() {
            event("timed_out");
        }

        private void event(String event) {
            if (writer != null) {
                writer.event(event, name);
            }
        }
    }

    private final AtomicReferenceArray<Operation> operations = new AtomicReferenceArray<>(SLOTS);
    private final DelayedOperationPurgatory<Operation> purgatory;

    PurgatoryWorkload(TraceWriter writer, Wish wish, TimerSizes sizes, int purgeInterval) {
        super(writer, wish);
        SystemTimer timer = new SystemTimer(
                "timer", sizes.tickMs(), sizes.wheelSize(), Time.SYSTEM.hiResClockMs());
        purgatory = new DelayedOperationPurgatory<>(
                "workload", timer, 0, purgeInterval, true, true);
    }

    @Override
    void turn(RandomGenerator random) {
        int slot = random.nextInt(SLOTS);
        Operation operation = operations.get(slot);
        int choice = random.nextInt(100);
        if (operation == null || choice < (operation.isCompleted() ? 90 : 35)) {
            Operation fresh = new Operation(delayMs(random), someKeys(random));
            watch(fresh);
            operations.set(slot, fresh);
        } else if (choice < 65) {
            if (!operation.ready) {
                satisfy(operation);
            }
            check(operation.keys.get(random.nextInt(operation.keys.size())));
        } else if (choice < 80) {
            check(anyKey(random));
        } else if (choice < 98) {
            force(operation);
        } else {
            cancelForKey(anyKey(random));
        }
    }

    private Key anyKey(RandomGenerator random) {
        return new Key("key-" + random.nextInt(wish.keys()));
    }

    private List<Key> someKeys(RandomGenerator random) {
        int number = random.nextInt(1, MOST_KEYS + 1);
        return Stream.generate(() -> anyKey(random)).limit(number).distinct().toList();
    }

    private void watch(Operation operation) {
        if (writer == null) {
            purgatory.tryCompleteElseWatch(operation, operation.keys);
            return;
        }
        String keys = String.join("\",\"", operation.keys.stream().map(Key::keyLabel).toList());
        writer.call("{\"op\":\"watch\",\"operation\":\"" + operation.name + "\",\"keys\":[\"" + keys
                + "\"],\"delay_ms\":" + operation.delayMs + "}");
        writer.returned(purgatory.tryCompleteElseWatch(operation, operation.keys));
    }

    /** The condition becomes true somewhere between the two lines. */
    private void satisfy(Operation operation) {
        if (writer != null) {
            writer.call("{\"op\":\"satisfy\",\"operation\":\"" + operation.name + "\"}");
        }
        operation.ready = true;
        if (writer != null) {
            writer.returned();
        }
    }

    private void check(Key key) {
        if (writer == null) {
            purgatory.checkAndComplete(key);
            return;
        }
        writer.call("{\"op\":\"check\",\"key\":\"" + key.keyLabel() + "\"}");
        writer.returned(purgatory.checkAndComplete(key));
    }

    private void force(Operation operation) {
        if (writer == null) {
            operation.forceComplete();
            return;
        }
        writer.call("{\"op\":\"force\",\"operation\":\"" + operation.name + "\"}");
        writer.returned(operation.forceComplete());
    }

    private void cancelForKey(Key key) {
        if (writer == null) {
            purgatory.cancelForKey(key);
            return;
        }
        writer.call("{\"op\":\"cancel_for_key\",\"key\":\"" + key.keyLabel() + "\"}");
        List<Operation> cancelled = purgatory.cancelForKey(key);
        writer.returned(cancelled.stream().map(each -> each.name).toList());
    }

    @Override
    int live() {
        return purgatory.numDelayed();
    }

    @Override
    int most() {
        return MOST;
    }

    @Override
    public void close() throws Exception {
        if (writer != null) {
            writer.call("{\"op\":\"shutdown\"}");
        }
        purgatory.shutdown();
        if (writer != null) {
            writer.returned();
        }
    }
}
