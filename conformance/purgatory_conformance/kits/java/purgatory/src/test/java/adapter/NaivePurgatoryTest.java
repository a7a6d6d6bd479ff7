// SPDX-License-Identifier: CC0-1.0
package adapter;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The purgatory keeps nothing of what was completed or cancelled. */
class NaivePurgatoryTest {
    /** An operation that can be completed once it is ready. */
    private static final class Waiting extends NaivePurgatory.DelayedOperation {
        private boolean ready;

        Waiting() {
            super(3_600_000);
        }

        @Override
        boolean tryComplete() {
            return ready && forceComplete();
        }

        @Override
        void onComplete() {}

        @Override
        void onExpiration() {}
    }

    private final NaivePurgatory.TimeOuts timer = new NaivePurgatory.TimeOuts(1, 0);
    private final NaivePurgatory purgatory = new NaivePurgatory(timer, 100, true);

    /** Ten thousand that wait for an hour, under each of the keys. */
    private List<Waiting> tenThousand(List<String> keys) {
        List<Waiting> waiting = Stream.generate(Waiting::new).limit(10_000).toList();
        waiting.forEach(operation -> purgatory.tryCompleteElseWatch(operation, keys));
        return waiting;
    }

    private void assertNothingIsKept() {
        purgatory.purgeIfDue();
        assertEquals(0, timer.size());
        assertEquals(0, purgatory.keys());
    }

    @Test
    void aCompletedOperationIsNotKeptUntilItsTimeOut() {
        tenThousand(List.of("a", "b")).forEach(Waiting::forceComplete);
        assertNothingIsKept();
    }

    @Test
    void aCheckLeavesTheEntriesUnderOtherKeysToThePurge() {
        tenThousand(List.of("a", "b")).forEach(operation -> operation.ready = true);
        assertEquals(10_000, purgatory.checkAndComplete("a"));
        assertEquals(10_000, purgatory.staleEntries());
        assertNothingIsKept();
    }

    @Test
    void aCancelledOperationIsNotKeptUntilItsTimeOut() {
        tenThousand(List.of("a"));
        assertEquals(10_000, purgatory.cancelForKey("a").size());
        assertNothingIsKept();
    }
}
