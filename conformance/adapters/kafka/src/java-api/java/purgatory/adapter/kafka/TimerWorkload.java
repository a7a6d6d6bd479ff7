// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.kafka;

import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.random.RandomGenerator;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.server.util.timer.SystemTimer;
import org.apache.kafka.server.util.timer.SystemTimerReaper;
import org.apache.kafka.server.util.timer.TimerTask;

/** Tasks are added, cancelled and added again, each by any thread. */
final class TimerWorkload extends Workload {

    private static final int SLOTS = 512;
    private static final int MOST = 20_000;

    private final class Task extends TimerTask {
        private final String name = newName();
        private final String add = "{\"op\":\"add\",\"task\":\"" + name + "\",\"delay_ms\":";
        private final String cancel = "{\"op\":\"cancel\",\"task\":\"" + name + "\"}";

        Task(long delayMs) {
            super(delayMs);
        }

        @Override
        public void run() {
            if (writer != null) {
                writer.event("ran", name);
            }
        }
    }

    private final AtomicReferenceArray<Task> tasks = new AtomicReferenceArray<>(SLOTS);
    private final SystemTimerReaper timer;

    TimerWorkload(TraceWriter writer, Wish wish, TimerSizes sizes) {
        super(writer, wish);
        timer = new SystemTimerReaper("reaper", new SystemTimer(
                "timer", sizes.tickMs(), sizes.wheelSize(), Time.SYSTEM.hiResClockMs()));
    }

    @Override
    void turn(RandomGenerator random) {
        int slot = random.nextInt(SLOTS);
        Task task = tasks.get(slot);
        int choice = random.nextInt(100);
        if (task != null && choice < 25) {
            cancel(task);
        } else if (task != null && choice < 40) {
            add(task);
        } else {
            Task fresh = new Task(delayMs(random));
            tasks.set(slot, fresh);
            add(fresh);
        }
    }

    private void add(Task task) {
        if (writer == null) {
            timer.add(task);
            return;
        }
        writer.call(task.add + task.delayMs + "}");
        timer.add(task);
        writer.returned();
    }

    private void cancel(Task task) {
        if (writer == null) {
            task.cancel();
            return;
        }
        writer.call(task.cancel);
        task.cancel();
        writer.returned();
    }

    @Override
    int live() {
        return timer.size();
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
        timer.close();
        if (writer != null) {
            writer.returned();
        }
    }
}
