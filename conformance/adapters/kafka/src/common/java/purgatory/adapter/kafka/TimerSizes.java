// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.kafka;

import com.google.gson.JsonObject;

/** What a timer is made with: tick (ms), buckets per wheel, first clock reading (ms). */
record TimerSizes(long tickMs, int wheelSize, long startMs) {

    static TimerSizes decode(JsonObject configuration) {
        return new TimerSizes(
                Json.integer(configuration, "tick_ms", 1),
                Json.small(configuration, "wheel_size", 20),
                Json.integer(configuration, "start_ms", 0));
    }
}
