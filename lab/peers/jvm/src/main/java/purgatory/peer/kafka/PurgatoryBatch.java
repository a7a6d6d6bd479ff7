// SPDX-License-Identifier: CC0-1.0
package purgatory.peer.kafka;

import purgatory.peer.Answer;
import purgatory.peer.CheckFailed;
import purgatory.peer.Costs;
import purgatory.peer.Measure;
import purgatory.peer.Request;
import purgatory.peer.Stopwatch;

/** Operations are watched under three keys each; then all are marked, and every key is checked once. */
final class PurgatoryBatch implements Measure {

    @Override
    public Answer take(Request request) throws Exception {
        int payload = request.count("payload", 0);
        MarkedOperation[] operations = new MarkedOperation[request.count("operations", 1)];
        KeyChoice keys = new KeyChoice(
                request.count("keys", KeyChoice.EACH), operations.length, request.draws());
        Costs costs;
        long watchNs;
        int completed = 0;
        try (BrokersPurgatory<MarkedOperation> purgatory = new BrokersPurgatory<>()) {
            Stopwatch watch = Stopwatch.start();
            for (int i = 0; i < operations.length; i++) {
                operations[i] = new MarkedOperation(payload);
                purgatory.watch(operations[i], keys.of(i));
            }
            watchNs = watch.threadNs();
            for (MarkedOperation operation : operations) {
                operation.mark();
            }
            for (Key key : keys.all()) {
                completed += purgatory.check(key);
            }
            watch.stopThread();
            costs = watch.stop();
        }
        CheckFailed.unlessEqual(operations.length, completed, "operations completed by checks");
        for (MarkedOperation operation : operations) {
            operation.check();
        }
        return new Answer(operations.length, costs).with("watch_cpu_ns", watchNs);
    }
}
