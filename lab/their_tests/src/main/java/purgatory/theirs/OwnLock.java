// SPDX-License-Identifier: Apache-2.0
package purgatory.theirs;

import java.util.concurrent.locks.ReentrantLock;

/** The own lock of one of our operations, as far as tests ask: whether the thread holds it. */
public final class OwnLock extends ReentrantLock {
    private static final long serialVersionUID = 1;

    private final int operation;

    public OwnLock(int operation) {
        this.operation = operation;
    }

    @Override
    public boolean isHeldByCurrentThread() {
        return RunTheirs.ours().holdsLock(operation);
    }
}
