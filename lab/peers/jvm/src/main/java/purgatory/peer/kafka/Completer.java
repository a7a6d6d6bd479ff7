// SPDX-License-Identifier: CC0-1.0
package purgatory.peer.kafka;

import java.util.concurrent.DelayQueue;
import purgatory.peer.CheckFailed;
import purgatory.peer.Percentiles;

/** The workload's second thread: takes one request at a time when it is due, and completes it. */
final class Completer implements AutoCloseable {

    private final DelayQueue<TimedRequest> queue = new DelayQueue<>();
    private final long[] lagsNs;
    private final Thread thread = new Thread(this::completeAll, "completer");
    private int taken;
    private volatile boolean closing;
    private volatile Throwable failure;

    /** For so many requests at most. */
    Completer(int requests) {
        lagsNs = new long[requests];
    }

    void start() {
        thread.start();
    }

    void hand(TimedRequest request) {
        queue.add(request);
    }

    private void completeAll() {
        try {
            while (!closing) {
                complete(queue.take());
            }
        } catch (InterruptedException end) {
            if (!closing) {
                failure = end;
            }
        } catch (RuntimeException | Error thrown) {
            failure = thrown;
        }
    }

    private void complete(TimedRequest request) {
        request.forceComplete();
        lagsNs[taken++] = System.nanoTime() - request.dueNs();
    }

    /** Ends the thread; requests that are not due yet stay where they are. */
    @Override
    public void close() throws InterruptedException {
        closing = true;
        thread.interrupt();
        thread.join();
        if (failure != null) {
            throw new CheckFailed("the second thread failed: " + failure);
        }
    }

    /** How late each request was that was taken, those among them that had expired; after the end. */
    Percentiles lags() {
        return new Percentiles(lagsNs, taken);
    }
}
