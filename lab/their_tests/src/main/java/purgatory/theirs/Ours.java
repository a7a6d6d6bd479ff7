// SPDX-License-Identifier: Apache-2.0
package purgatory.theirs;

import java.util.List;

/** Our implementation, in the Python process: its objects by number. */
public interface Ours {
    int timer(long tickMs, int wheelSize);

    void add(int timer, Runnable task, long delayMs);

    /** Waits until something is due, or for so long, and advances; whether anything was due. */
    boolean advance(int timer, long timeoutMs);

    void closeTimer(int timer);

    int purgatory(int purgeInterval);

    /** Makes an operation that calls this one. */
    int operation(Attempted theirs, long delayMs);

    boolean watch(int purgatory, int operation, List<?> keys);

    int check(int purgatory, Object key);

    int entries(int purgatory);

    int timerSize(int purgatory);

    /** The numbers of the operations, with blanks between them. */
    String cancelForKey(int purgatory, Object key);

    void closePurgatory(int purgatory);

    boolean forceComplete(int operation);

    boolean isCompleted(int operation);

    /** Whether the calling thread holds the operation's own lock. */
    boolean holdsLock(int operation);

    /** Tries under the own lock; if that fails, does something, and tries again. */
    boolean tryElse(int operation, Runnable action);
}
