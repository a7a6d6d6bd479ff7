// SPDX-License-Identifier: CC0-1.0
package purgatory.peer.kafka;

import java.io.IOException;
import java.io.InputStream;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Properties;
import purgatory.peer.Measure;
import purgatory.peer.Pause;
import purgatory.peer.Peer;
import purgatory.peer.TimerMeasures;
import purgatory.peer.TimerMemory;

/** Apache Kafka: its timer, purgatory and memory pool. */
public final class KafkaPeer {

    private KafkaPeer() {
    }

    public static Peer make() throws IOException {
        Map<String, Measure> measures = new LinkedHashMap<>();
        TimerMeasures.putVirtual(measures, largestMs -> new VirtualTimer());
        TimerMeasures.putSystem(measures, largestMs -> new RealTimer());
        measures.put("purgatory", new PurgatoryBatch());
        measures.put("event", new EventLatency());
        measures.put("pool", new PoolMeasure());
        measures.put("memory/timer", new TimerMemory<>(largestMs -> new RealTimer()));
        measures.put("memory/purgatory", new PurgatoryMemory());
        measures.put("pause", new Pause<>(largestMs -> new RealTimer()));
        measures.put("workload", new Workload());
        return new Peer("kafka", version(), measures);
    }

    private static String version() throws IOException {
        try (InputStream file =
                KafkaPeer.class.getResourceAsStream("/kafka/kafka-version.properties")) {
            Properties properties = new Properties();
            properties.load(file);
            return properties.getProperty("version");
        }
    }
}
