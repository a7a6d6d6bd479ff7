// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.kafka;

import org.apache.kafka.common.MetricName;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.metrics.Sensor;
import org.apache.kafka.common.metrics.stats.CumulativeCount;

/** Counts the dry spells that a pool records as ended. */
final class DrySpells {

    private final Metrics metrics = new Metrics();
    private final MetricName name = metrics.metricName("dry-spells", "conformance");
    private final Sensor sensor = metrics.sensor("dry-spells");

    DrySpells() {
        sensor.add(name, new CumulativeCount());
    }

    Sensor sensor() {
        return sensor;
    }

    long ended() {
        return ((Number) metrics.metric(name).metricValue()).longValue();
    }

    void close() {
        metrics.close();
    }
}
