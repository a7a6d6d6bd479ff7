// SPDX-License-Identifier: CC0-1.0
package purgatory.peer.kafka;

import org.apache.kafka.server.util.timer.CallerLedTimer;
import purgatory.peer.MeasuredTimer;
import purgatory.peer.Tally;

/** Kafka's wheel, its clock led by the caller. */
final class VirtualTimer implements MeasuredTimer<CountingTask> {

    private final CallerLedTimer timer = new CallerLedTimer();

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
    public void runAll(Tally tally) {
        timer.leadToEnd();
    }

    @Override
    public void settle() {
        // There is no other thread.
    }

    @Override
    public long pending() {
        return timer.size();
    }

    @Override
    public void close() {
        // There are no threads to end.
    }
}
