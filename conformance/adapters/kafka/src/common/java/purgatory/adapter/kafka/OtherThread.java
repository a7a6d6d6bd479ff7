// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.kafka;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.LinkedBlockingQueue;

/** The other thread of a step: it makes calls one by one while a callback stands still. */
final class OtherThread {

    private static final long GRACE_NANOS = 1_000_000_000L;
    private static final int LOOKS = 4;
    private static final long MOST_NANOS = 30_000_000_000L;

    /** One call; it is running from when its thread has taken it until it is done. */
    private static final class Task {
        final Runnable call;
        volatile boolean running;
        volatile boolean done;

        Task(Runnable call) {
            this.call = call;
        }
    }

    private final LinkedBlockingQueue<Task> tasks = new LinkedBlockingQueue<>();
    private final Queue<Task> waiting = new ArrayDeque<>();
    private Thread thread;

    /** Makes a call; comes back when it has returned, or waits for what its caller holds. */
    void call(Runnable call) {
        Task task = new Task(call);
        boolean behind = !waiting.isEmpty();
        tasks.add(task);
        if (thread == null) {
            thread = new Thread(this::work, "meanwhile");
            thread.setDaemon(true);
            thread.start();
        }
        if (behind || !returns(task)) {
            waiting.add(task);
        }
    }

    /** Waits until every call has returned, and ends the thread: the step is at its end. */
    void endStep() {
        long begun = System.nanoTime();
        for (Task task = waiting.poll(); task != null; task = waiting.poll()) {
            while (!task.done) {
                if (System.nanoTime() - begun > MOST_NANOS) {
                    throw new AdapterFailure(
                            "a call of the other thread does not return: the threads wait for each"
                                    + " other");
                }
                Thread.onSpinWait();
            }
        }
        if (thread != null) {
            // Nothing runs in it any more; its next take ends it.
            thread.interrupt();
            thread = null;
        }
    }

    /** False where the call's thread stands at a lock, at several looks in a row. */
    private boolean returns(Task task) {
        long begun = System.nanoTime();
        int stood = 0;
        while (!task.done) {
            stood = task.running && stands(thread.getState()) ? stood + 1 : 0;
            if (stood == LOOKS || System.nanoTime() - begun > GRACE_NANOS) {
                return task.done;
            }
            pause();
        }
        return true;
    }

    private static boolean stands(Thread.State state) {
        return state == Thread.State.BLOCKED || state == Thread.State.WAITING;
    }

    private static void pause() {
        try {
            Thread.sleep(1);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void work() {
        while (true) {
            try {
                Task task = tasks.take();
                task.running = true;
                try {
                    task.call.run();
                } finally {
                    task.done = true;
                }
            } catch (InterruptedException interrupted) {
                return;
            }
        }
    }
}
