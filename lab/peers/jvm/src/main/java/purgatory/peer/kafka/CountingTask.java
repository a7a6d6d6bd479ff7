// SPDX-License-Identifier: CC0-1.0
package purgatory.peer.kafka;

import org.apache.kafka.server.util.timer.TimerTask;
import purgatory.peer.Tally;

/** A task that tells its tally of each run. */
final class CountingTask extends TimerTask {

    private final Tally tally;
    private boolean ran;

    CountingTask(long delayMs, Tally tally) {
        super(delayMs);
        this.tally = tally;
    }

    @Override
    public void run() {
        tally.ran(ran);
        ran = true;
    }
}
