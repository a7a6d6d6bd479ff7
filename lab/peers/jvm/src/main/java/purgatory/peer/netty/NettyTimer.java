// SPDX-License-Identifier: CC0-1.0
package purgatory.peer.netty;

import io.netty.util.HashedWheelTimer;
import io.netty.util.Timeout;
import io.netty.util.TimerTask;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import purgatory.peer.CheckFailed;
import purgatory.peer.MeasuredTimer;
import purgatory.peer.Tally;

/**
 * HashedWheelTimer with a tick of 1 ms.
 *
 * <p>Its calls queue their work for the worker, who takes it up at the next tick.
 */
final class NettyTimer implements MeasuredTimer<Timeout> {

    private static final long TICK_MS = 1;
    private static final long NO_LIMIT = -1;
    private static final long PATIENCE_S = 60;

    private final HashedWheelTimer timer;

    /** One turn of the wheel is longer than the largest delay, so that no timer is passed over. */
    NettyTimer(int largestMs) {
        timer = new HashedWheelTimer(
                task -> new Thread(task, "netty-timer"), TICK_MS, TimeUnit.MILLISECONDS,
                largestMs + 1, false, NO_LIMIT);
        timer.start();
    }

    private static final class CountingTask implements TimerTask {

        private final Tally tally;
        private boolean ran;

        CountingTask(Tally tally) {
            this.tally = tally;
        }

        @Override
        public void run(Timeout timeout) {
            tally.ran(ran);
            ran = true;
        }
    }

    private static final class BareTask implements TimerTask {

        @Override
        public void run(Timeout timeout) {
            throw new IllegalStateException("it was not to fall due");
        }
    }

    @Override
    public Timeout add(int delayMs, Tally tally) {
        return timer.newTimeout(new CountingTask(tally), delayMs, TimeUnit.MILLISECONDS);
    }

    @Override
    public void addBare(int delayMs) {
        timer.newTimeout(new BareTask(), delayMs, TimeUnit.MILLISECONDS);
    }

    @Override
    public void cancel(Timeout timeout) {
        timeout.cancel();
    }

    @Override
    public void runAll(Tally tally) throws InterruptedException {
        tally.awaitAll();
    }

    /**
     * Two timers, one after the other, mark the end of what was queued. When the first runs, all
     * that was added before is in the wheel. The second runs a tick later, whose beginning
     * has taken up all that was cancelled before.
     */
    @Override
    public void settle() throws InterruptedException {
        passTick();
        passTick();
    }

    private void passTick() throws InterruptedException {
        CountDownLatch passed = new CountDownLatch(1);
        timer.newTimeout(timeout -> passed.countDown(), 0, TimeUnit.MILLISECONDS);
        if (!passed.await(PATIENCE_S, TimeUnit.SECONDS)) {
            throw new CheckFailed("the worker has not caught up within " + PATIENCE_S + " s");
        }
    }

    @Override
    public long pending() {
        return timer.pendingTimeouts();
    }

    @Override
    public void close() {
        timer.stop();
    }
}
