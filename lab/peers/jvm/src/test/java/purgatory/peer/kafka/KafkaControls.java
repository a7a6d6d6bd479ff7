// SPDX-License-Identifier: CC0-1.0
package purgatory.peer.kafka;

import java.util.List;
import purgatory.peer.CheckFailed;
import purgatory.peer.Controls;
import purgatory.peer.SplitMix;

/** Controls of what the peer of Kafka checks. */
public final class KafkaControls {

    private static final long PATIENCE_NS = 10_000_000_000L;

    private KafkaControls() {
    }

    public static void run(Controls controls) {
        controls.accepted("an operation completed once", () -> operation(1, false).check());
        controls.refused("an operation never completed", CheckFailed.class,
                () -> operation(0, false).check());
        controls.refused("an operation completed twice", CheckFailed.class,
                () -> operation(2, false).check());
        controls.refused("an operation completed by its time-out", CheckFailed.class,
                () -> operation(1, true).check());
        controls.accepted("a request that ended once", () -> tally(false).check(1));
        controls.refused("a request that ended again", CheckFailed.class,
                () -> tally(true).check(2));
        controls.refused("a request that never ended", CheckFailed.class,
                () -> tally(false).check(2));
        controls.refused("a buffer that was not made", CheckFailed.class,
                () -> PoolMeasure.checkAllocated(99, 100));
        controls.refused("an operation that is complete at once", CheckFailed.class,
                KafkaControls::watchMarked);
        controls.accepted("three different keys of four, for each operation",
                KafkaControls::chooseKeys);
        controls.accepted("a purge interval of one's own", KafkaControls::purge);
    }

    private static MarkedOperation operation(int completions, boolean expired) {
        MarkedOperation operation = new MarkedOperation(0);
        for (int i = 0; i < completions; i++) {
            operation.onComplete();
        }
        if (expired) {
            operation.onExpiration();
        }
        return operation;
    }

    private static RequestTally tally(boolean again) {
        RequestTally tally = new RequestTally();
        TimedRequest request = new TimedRequest(0, List.of(), 0, tally);
        request.onComplete();
        if (again) {
            request.onComplete();
        }
        return tally;
    }

    private static void watchMarked() throws Exception {
        try (BrokersPurgatory<MarkedOperation> purgatory = new BrokersPurgatory<>()) {
            MarkedOperation operation = new MarkedOperation(0);
            operation.mark();
            purgatory.watch(operation, Key.make(1));
        }
    }

    /** One stale entry is purged by the purgatory that is to purge each, and kept by another. */
    private static void purge() throws Exception {
        try (BrokersPurgatory<MarkedOperation> usual = new BrokersPurgatory<>();
                BrokersPurgatory<MarkedOperation> eager = new BrokersPurgatory<>(0)) {
            leaveOneStale(usual);
            leaveOneStale(eager);
            long endNs = System.nanoTime() + PATIENCE_NS;
            while (eager.watched() > 0 && System.nanoTime() < endNs) {
                Thread.sleep(10);
            }
            CheckFailed.unlessEqual(0, eager.watched(), "entries with the purge interval 0");
            CheckFailed.unlessEqual(1, usual.watched(), "entries with the usual one");
        }
    }

    private static void leaveOneStale(BrokersPurgatory<MarkedOperation> purgatory) {
        List<Key> keys = Key.make(2);
        MarkedOperation operation = new MarkedOperation(0);
        purgatory.watch(operation, keys);
        operation.mark();
        purgatory.check(keys.get(0));
    }

    private static void chooseKeys() {
        KeyChoice choice = new KeyChoice(4, 1000, new SplitMix(7));
        for (int i = 0; i < 1000; i++) {
            CheckFailed.unlessEqual(3, choice.of(i).stream().distinct().count(), "keys");
        }
    }
}
