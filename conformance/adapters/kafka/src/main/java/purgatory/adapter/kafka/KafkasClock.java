// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.kafka;

import org.apache.kafka.common.utils.Time;

/** Whether Kafka's system clock is shadowed, so that it reads the virtual clock. */
final class KafkasClock {

    private KafkasClock() {
    }

    static void mustBeVirtual() {
        if (!isVirtual()) {
            throw new IllegalStateException("put the folder of the shadowing class first");
        }
    }

    static boolean isVirtual() {
        for (long reading : new long[] {-7, 11}) {
            VirtualClock.set(reading);
            if (Time.SYSTEM.hiResClockMs() != reading) {
                return false;
            }
        }
        return true;
    }
}
