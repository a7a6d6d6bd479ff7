// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.timers;

import java.util.concurrent.CountDownLatch;

/**
 * Prints the pending timeouts of a hashed wheel of which nothing is pending, after a task has
 * cancelled another task of its tick. The arguments are the names of wheels.
 */
final class CancelledInItsTick {
    /** So long overdue that both tasks are due in the next tick, on however slow a machine. */
    private static final long OVERDUE_MS = -3_600_000;

    private CancelledInItsTick() {
    }

    public static void main(String[] words) throws InterruptedException {
        for (String word : words) {
            System.out.println(word + " " + pendingAfterwards(HashedWheel.named(word, 1, 8)));
        }
    }

    /** A task arms both: the wheel's thread, which runs it, then takes them in one tick. */
    private static long pendingAfterwards(HashedWheel.Wheel wheel) throws InterruptedException {
        CountDownLatch last = new CountDownLatch(1);
        Runnable[] cancelling = new Runnable[1];
        wheel.arm(() -> {
            wheel.arm(() -> {
                cancelling[0].run();
                wheel.arm(last::countDown, OVERDUE_MS);
            }, OVERDUE_MS);
            cancelling[0] = wheel.arm(() -> { }, OVERDUE_MS);
        }, OVERDUE_MS);
        last.await();
        wheel.stop(); // and with it the thread, which has counted everything by then
        return wheel.pending();
    }
}
