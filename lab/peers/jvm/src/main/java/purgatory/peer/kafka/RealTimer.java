// SPDX-License-Identifier: CC0-1.0
package purgatory.peer.kafka;

import org.apache.kafka.common.utils.Time;
import org.apache.kafka.server.util.timer.SystemTimer;
import org.apache.kafka.server.util.timer.SystemTimerReaper;
import purgatory.peer.MeasuredTimer;
import purgatory.peer.Tally;

/** SystemTimer, and Kafka's own thread that advances it. */
final class RealTimer implements MeasuredTimer<CountingTask> {

    private static final long TICK_MS = 1;
    private static final int WHEEL_SIZE = 20;

    private final SystemTimer timer =
            new SystemTimer("peer", TICK_MS, WHEEL_SIZE, Time.SYSTEM.hiResClockMs());
    private final SystemTimerReaper reaper = new SystemTimerReaper("peer-reaper", timer);

    @Override
    public CountingTask add(int delayMs, Tally tally) {
        CountingTask task = new CountingTask(delayMs, tally);
        timer.add(task);
        return task;
    }

    @Override
    public void addBare(int delayMs) {
        timer.add(new BareTask(delayMs));
    }

    @Override
    public void cancel(CountingTask task) {
        task.cancel();
    }

    @Override
    public void runAll(Tally tally) throws InterruptedException {
        tally.awaitAll();
    }

    @Override
    public void settle() {
        // An add and a cancel are done when they return.
    }

    @Override
    public long pending() {
        return timer.size();
    }

    @Override
    public void close() throws Exception {
        reaper.close();
    }
}
