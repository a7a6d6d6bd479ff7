// SPDX-License-Identifier: Apache-2.0
package org.apache.fluss.server.replica.delay;

import java.util.concurrent.locks.Lock;
import org.apache.fluss.server.utils.timer.TimerTask;
import purgatory.theirs.Attempted;
import purgatory.theirs.OwnLock;
import purgatory.theirs.RunTheirs;

/** In the place of Fluss's class of this name, as far as its tests use it: our operation. */
public abstract class DelayedOperation extends TimerTask implements Attempted {
    final int ours;
    final Lock lock;

    public DelayedOperation(long delayMs) {
        super(delayMs);
        ours = RunTheirs.ours().operation(this, delayMs);
        lock = new OwnLock(ours);
    }

    @Override
    public abstract boolean tryComplete();

    @Override
    public abstract void onComplete();

    @Override
    public abstract void onExpiration();

    boolean forceComplete() {
        return RunTheirs.ours().forceComplete(ours);
    }

    boolean isCompleted() {
        return RunTheirs.ours().isCompleted(ours);
    }

    public boolean safeTryComplete() {
        throw new UnsupportedOperationException("our purgatory tries by itself");
    }

    public boolean safeTryCompleteOrElse(Runnable action) {
        return RunTheirs.ours().tryElse(ours, action);
    }

    @Override
    public void run() {
        throw new UnsupportedOperationException("our timer runs what is ours");
    }
}
