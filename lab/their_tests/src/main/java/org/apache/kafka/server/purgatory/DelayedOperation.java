// SPDX-License-Identifier: Apache-2.0
package org.apache.kafka.server.purgatory;

import java.util.concurrent.locks.ReentrantLock;
import org.apache.kafka.server.util.timer.TimerTask;
import purgatory.theirs.Attempted;
import purgatory.theirs.OwnLock;
import purgatory.theirs.RunTheirs;

/** In the place of Kafka's class of this name, as far as its tests use it: our operation. */
public abstract class DelayedOperation extends TimerTask implements Attempted {
    final int ours;
    protected final ReentrantLock lock;

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

    public boolean forceComplete() {
        return RunTheirs.ours().forceComplete(ours);
    }

    public boolean isCompleted() {
        return RunTheirs.ours().isCompleted(ours);
    }

    boolean safeTryComplete() {
        throw new UnsupportedOperationException("our purgatory tries by itself");
    }

    boolean safeTryCompleteOrElse(Action action) {
        return RunTheirs.ours().tryElse(ours, action::apply);
    }

    @Override
    public void run() {
        throw new UnsupportedOperationException("our timer runs what is ours");
    }

    /** What is done between two tries. */
    public interface Action {
        void apply();
    }
}
