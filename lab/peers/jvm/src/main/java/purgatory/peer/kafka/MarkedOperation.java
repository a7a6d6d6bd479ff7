// SPDX-License-Identifier: CC0-1.0
package purgatory.peer.kafka;

import org.apache.kafka.server.purgatory.DelayedOperation;
import purgatory.peer.CheckFailed;

/** An operation that can be completed once it is marked, and that counts its own completions. */
final class MarkedOperation extends DelayedOperation {

    static final long TIME_OUT_MS = 60_000;

    @SuppressWarnings("unused")
    private final byte[] payload;
    private volatile boolean ready;
    private boolean expired;
    private short completions;

    /** Holds so many bytes; none and no array for 0. */
    MarkedOperation(int payloadBytes) {
        super(TIME_OUT_MS);
        payload = payloadBytes == 0 ? null : new byte[payloadBytes];
    }

    void mark() {
        ready = true;
    }

    @Override
    public boolean tryComplete() {
        return ready && forceComplete();
    }

    @Override
    public void onComplete() {
        completions++;
    }

    @Override
    public void onExpiration() {
        expired = true;
    }

    /** It was completed once, and not by its time-out. */
    void check() {
        if (completions != 1 || expired) {
            throw new CheckFailed("an operation was completed " + completions + " times"
                    + (expired ? " and expired" : ""));
        }
    }
}
