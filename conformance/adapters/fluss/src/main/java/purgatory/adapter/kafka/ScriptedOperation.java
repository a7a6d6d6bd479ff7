// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.kafka;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import org.apache.fluss.server.replica.delay.DelayedOperation;

/**
 * A delayed operation of Fluss's; what it does when it is called is in its callbacks.
 *
 * <p>Two methods of its superclass are open to Fluss's own package alone, and are called by handle.
 */
final class ScriptedOperation extends DelayedOperation implements Named {

    private static final MethodHandle FORCE_COMPLETE = handle("forceComplete");
    private static final MethodHandle IS_COMPLETED = handle("isCompleted");

    final Callbacks callbacks;

    ScriptedOperation(long delayMs, Callbacks callbacks) {
        super(delayMs);
        this.callbacks = callbacks;
    }

    @Override
    public String name() {
        return callbacks.name;
    }

    boolean forceComplete() {
        return called(FORCE_COMPLETE);
    }

    boolean isCompleted() {
        return called(IS_COMPLETED);
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

    /** What a callback throws comes out as it is. */
    private boolean called(MethodHandle method) {
        try {
            return (boolean) method.invokeExact((DelayedOperation) this);
        } catch (RuntimeException | Error own) {
            throw own;
        } catch (Throwable failure) {
            throw new IllegalStateException(failure);
        }
    }

    private static MethodHandle handle(String name) {
        try {
            return MethodHandles.privateLookupIn(DelayedOperation.class, MethodHandles.lookup())
                    .findVirtual(DelayedOperation.class, name, MethodType.methodType(boolean.class));
        } catch (ReflectiveOperationException failure) {
            throw new IllegalStateException(Private.OTHER_RELEASE, failure);
        }
    }
}
