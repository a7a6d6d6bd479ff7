// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.kafka;

import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.AbstractExecutorService;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * In the place of the timer's own executor: keeps submitted tasks until a step runs them.
 *
 * <p>As with the executor it replaces, a task's exception ends in its future, and nothing is
 * accepted after {@link #shutdown}. What was queued before can still be run. While it refuses,
 * nothing is accepted either, as by an executor whose queue is full.
 */
final class SteppedExecutor extends AbstractExecutorService {

    private final Queue<FutureTask<Void>> queue = new ArrayDeque<>();
    private final Consumer<Named> onSubmission;
    private boolean closed;
    private boolean refuses;

    SteppedExecutor(Consumer<Named> onSubmission) {
        this.onSubmission = onSubmission;
    }

    /** Takes the place of a timer's executor, which has no thread yet. */
    void replaceIn(Object timer) {
        ((ExecutorService) Private.read(timer, "taskExecutor")).shutdown();
        Private.write(timer, "taskExecutor", this);
    }

    @Override
    public Future<?> submit(Runnable task) {
        if (closed) {
            throw new RejectedExecutionException("the executor has been shut down");
        }
        if (refuses) {
            throw new RefusedTask();
        }
        FutureTask<Void> future = new FutureTask<>(task, null);
        queue.add(future);
        onSubmission.accept((Named) task);
        return future;
    }

    @Override
    public void execute(Runnable task) {
        submit(task);
    }

    /** Refuses every task from now on, or none. */
    void refuse(boolean every) {
        refuses = every;
    }

    /** Runs the task that waited longest, if there is one. */
    void runOne() {
        FutureTask<Void> first = queue.poll();
        if (first != null) {
            first.run();
        }
    }

    int queued() {
        return queue.size();
    }

    @Override
    public void shutdown() {
        closed = true;
    }

    @Override
    public List<Runnable> shutdownNow() {
        closed = true;
        return List.of();
    }

    @Override
    public boolean isShutdown() {
        return closed;
    }

    @Override
    public boolean isTerminated() {
        return closed;
    }

    /** At once: a timer waits here for the tasks that only steps can run. */
    @Override
    public boolean awaitTermination(long timeout, TimeUnit unit) {
        return closed;
    }
}
