// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.kafka;

import java.util.LinkedHashMap;
import java.util.Map;

/** What each argument of the command line stands for, in releases before 4.0. */
final class Modes {

    private static final String USAGE = "no argument (virtual clock), --shared-lock or --leak-tracking";

    private Modes() {
    }

    static Subject subject(String mode) {
        return switch (mode) {
            case "" -> new Subject("Apache Kafka, virtual clock", everything());
            case "--shared-lock" -> {
                ScriptedOperation.shareOneLock();
                yield new Subject(
                        "Apache Kafka, virtual clock, one lock for all operations",
                        Map.of("purgatory", purgatory()));
            }
            case "--leak-tracking" -> new Subject(
                    "Apache Kafka GarbageCollectedMemoryPool",
                    Map.of("memory_pool", new MemoryPoolSubject(true)));
            default -> throw new IllegalArgumentException(USAGE);
        };
    }

    private static PurgatorySubject purgatory() {
        KafkasClock.mustBeVirtual();
        return new PurgatorySubject();
    }

    private static Map<String, Component> everything() {
        Map<String, Component> components = new LinkedHashMap<>();
        components.put("purgatory", purgatory());
        components.put("memory_pool", new MemoryPoolSubject(false));
        if (ChannelMutingSubject.isOffered()) {
            components.put("channel_muting", new ChannelMutingSubject());
        }
        return components;
    }
}
