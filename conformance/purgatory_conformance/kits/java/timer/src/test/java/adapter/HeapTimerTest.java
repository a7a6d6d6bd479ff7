// SPDX-License-Identifier: CC0-1.0
package adapter;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** The timer keeps nothing of what was cancelled or moved. */
class HeapTimerTest {
    private static final long HOUR_MS = 3_600_000;

    @Test
    void aCancelledTaskIsNotKeptUntilItIsDue() {
        HeapTimer<String> timer = new HeapTimer<>(1, 0);
        for (int number = 0; number < 10_000; number++) {
            timer.add("task " + number, HOUR_MS);
        }
        for (int number = 0; number < 10_000; number++) {
            timer.cancel("task " + number);
        }
        assertEquals(0, timer.size());
        assertEquals(0, timer.kept());
    }

    @Test
    void aTaskThatIsMovedIsKeptOnce() {
        HeapTimer<String> timer = new HeapTimer<>(1, 0);
        for (int number = 0; number < 10_000; number++) {
            timer.add("task", HOUR_MS);
        }
        assertTrue(timer.kept() <= 2, timer.kept() + " are in the heap");
    }
}
