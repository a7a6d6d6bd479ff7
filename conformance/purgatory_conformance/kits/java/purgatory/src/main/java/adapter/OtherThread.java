// SPDX-License-Identifier: CC0-1.0
package adapter;

import java.util.concurrent.LinkedBlockingQueue;

/** The other thread of a step: it makes calls one by one while a callback stands still. */
final class OtherThread {
    private static final long GRACE_MS = 50;
    private static final long MOST_MS = 30_000;
    private static final Runnable END = () -> { };

    private final LinkedBlockingQueue<Runnable> calls = new LinkedBlockingQueue<>();
    private Thread thread; // from the first call of a step until its end
    private int asked;
    private int returned;

    /** Makes a call; comes back when it has returned, or is seen to wait for what its caller holds. */
    synchronized void call(Runnable call) {
        boolean behind = returned < asked;
        asked++;
        calls.add(call);
        if (thread == null) {
            thread = new Thread(this::work, "meanwhile");
            thread.setDaemon(true);
            thread.start();
        }
        if (!behind) {
            await(GRACE_MS);
        }
    }

    /** Waits until every call has returned, and ends the thread: the step is at its end. */
    synchronized void endStep() {
        if (!await(MOST_MS)) {
            throw new IllegalStateException("a call does not return: the threads wait for each other");
        }
        if (thread != null) {
            calls.add(END);
            thread = null;
        }
    }

    private boolean await(long ms) {
        long end = System.nanoTime() + ms * 1_000_000;
        try {
            for (long left = ms; returned < asked && left > 0; left = (end - System.nanoTime()) / 1_000_000) {
                wait(left);
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
        return returned == asked;
    }

    private void work() {
        try {
            for (Runnable call = calls.take(); call != END; call = calls.take()) {
                call.run();
                synchronized (this) {
                    returned++;
                    notifyAll();
                }
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
