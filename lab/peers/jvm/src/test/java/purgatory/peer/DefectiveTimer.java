// SPDX-License-Identifier: CC0-1.0
package purgatory.peer;

import java.util.ArrayList;
import java.util.List;

/** A plain list of timers that does one thing wrong, or none. */
final class DefectiveTimer implements MeasuredTimer<DefectiveTimer.Task> {

    enum Defect { NONE, LOSES_A_TASK, RUNS_A_TASK_TWICE, RUNS_AT_ONCE, IGNORES_CANCEL }

    record Task(Tally tally) {
    }

    private final List<Task> tasks = new ArrayList<>();
    private final Defect defect;

    DefectiveTimer(Defect defect) {
        this.defect = defect;
    }

    @Override
    public Task add(int delayMs, Tally tally) {
        Task task = new Task(tally);
        if (defect == Defect.RUNS_AT_ONCE) {
            tally.ran(false);
        }
        tasks.add(task);
        return task;
    }

    @Override
    public void addBare(int delayMs) {
        if (defect != Defect.LOSES_A_TASK || !tasks.isEmpty()) {
            tasks.add(new Task(null));
        }
    }

    @Override
    public void cancel(Task task) {
        if (defect != Defect.IGNORES_CANCEL) {
            tasks.removeIf(pending -> pending == task);
        }
    }

    @Override
    public void runAll(Tally tally) {
        if (defect == Defect.LOSES_A_TASK) {
            tasks.remove(0);
        }
        if (defect == Defect.RUNS_A_TASK_TWICE) {
            tally.ran(true);
            tasks.remove(0);
        }
        tasks.forEach(task -> task.tally().ran(false));
        tasks.clear();
    }

    @Override
    public void settle() {
        // There is no other thread.
    }

    @Override
    public long pending() {
        return tasks.size();
    }

    @Override
    public void close() {
        // There are no threads to end.
    }
}
