// SPDX-License-Identifier: CC0-1.0
package purgatory.peer.kafka;

import java.util.Arrays;
import java.util.List;
import purgatory.peer.Answer;
import purgatory.peer.CheckFailed;
import purgatory.peer.Costs;
import purgatory.peer.Heap;
import purgatory.peer.Measure;
import purgatory.peer.Percentiles;
import purgatory.peer.Request;

/**
 * How long the caller of one event is held that completes an operation watched under many keys.
 *
 * <p>Always the first key is checked, so that its list holds the fresh operation alone. The span is
 * too short for a reading of processor time, which itself takes as long: that is not told.
 */
final class EventLatency implements Measure {

    @Override
    public Answer take(Request request) throws Exception {
        List<Key> keys = Key.make(request.count("keys", 1));
        Key checked = keys.get(0);
        long[] lengthsNs = new long[request.count("operations", 1)];
        try (BrokersPurgatory<MarkedOperation> purgatory = new BrokersPurgatory<>()) {
            Heap.collect();
            for (int i = 0; i < lengthsNs.length; i++) {
                MarkedOperation operation = new MarkedOperation(0);
                purgatory.watch(operation, keys);
                operation.mark();
                long beganNs = System.nanoTime();
                int completed = purgatory.check(checked);
                lengthsNs[i] = System.nanoTime() - beganNs;
                CheckFailed.unlessEqual(1, completed, "operations completed by one event");
                operation.check();
            }
        }
        Percentiles percentiles = new Percentiles(lengthsNs, lengthsNs.length);
        Costs costs =
                new Costs(Costs.NOT_TOLD, Costs.NOT_TOLD, Arrays.stream(lengthsNs).sum());
        return new Answer(lengthsNs.length, costs)
                .with("median_ns", percentiles.at(0.5))
                .with("p99_ns", percentiles.at(0.99))
                .with("max_ns", percentiles.largest());
    }
}
