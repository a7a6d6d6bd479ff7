// SPDX-License-Identifier: CC0-1.0
package purgatory.peer.kafka;

import java.lang.ref.Reference;
import purgatory.peer.Answer;
import purgatory.peer.CheckFailed;
import purgatory.peer.Costs;
import purgatory.peer.Heap;
import purgatory.peer.Measure;
import purgatory.peer.Request;
import purgatory.peer.Stopwatch;

/** Bytes of heap per watched operation, the operation and its payload included. */
final class PurgatoryMemory implements Measure {

    @Override
    public Answer take(Request request) throws Exception {
        int payload = request.count("payload", 0);
        int pending = request.count("pending", 1);
        KeyChoice keys = new KeyChoice(
                request.count("keys", KeyChoice.EACH), pending, request.draws());
        try (BrokersPurgatory<MarkedOperation> purgatory = new BrokersPurgatory<>()) {
            long before = Heap.usedBytes();
            Stopwatch watch = Stopwatch.start();
            for (int i = 0; i < pending; i++) {
                purgatory.watch(new MarkedOperation(payload), keys.of(i));
            }
            watch.stopThread();
            Costs costs = watch.stop();
            double bytes = Heap.grownSince(before) / (double) pending;
            CheckFailed.unlessEqual(pending, purgatory.pending(), "operations pending");
            Reference.reachabilityFence(keys);
            return new Answer(pending, costs).with("bytes", bytes).with("how", Heap.HOW);
        }
    }
}
