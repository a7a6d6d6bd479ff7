// SPDX-License-Identifier: CC0-1.0
package purgatory.peer.kafka;

import org.apache.kafka.server.util.timer.TimerTask;

/** A task without fields of its own. */
final class BareTask extends TimerTask {

    BareTask(long delayMs) {
        super(delayMs);
    }

    @Override
    public void run() {
        throw new IllegalStateException("it was not to fall due");
    }
}
