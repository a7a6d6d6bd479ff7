// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.kafka;

import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import kafka.server.DelayedOperation;
import scala.Option;

/** A delayed operation of Kafka's; what it does when it is called is in its callbacks. */
final class ScriptedOperation extends DelayedOperation implements Named {

    private static Option<Lock> lock = Option.empty();

    final Callbacks callbacks;

    ScriptedOperation(long delayMs, Callbacks callbacks) {
        super(delayMs, lock);
        this.callbacks = callbacks;
    }

    /** From now on all operations are given one lock, as those of a consumer group are. */
    static void shareOneLock() {
        lock = Option.apply(new ReentrantLock());
    }

    @Override
    public String name() {
        return callbacks.name;
    }

    @Override
    public boolean tryComplete() {
        return callbacks.tried(this::forceComplete);
    }

    @Override
    public void onComplete() {
        callbacks.completed();
    }

    @Override
    public void onExpiration() {
        callbacks.timedOut();
    }
}
