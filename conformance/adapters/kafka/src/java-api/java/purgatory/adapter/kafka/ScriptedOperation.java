// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.kafka;

import org.apache.kafka.server.purgatory.DelayedOperation;

/** A delayed operation of Kafka's; what it does when it is called is in its callbacks. */
final class ScriptedOperation extends DelayedOperation implements Named {

    final Callbacks callbacks;

    ScriptedOperation(long delayMs, Callbacks callbacks) {
        super(delayMs);
        this.callbacks = callbacks;
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
