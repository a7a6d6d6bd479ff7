// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.kafka;

import java.util.LinkedHashMap;
import java.util.Map;

/** What each argument of the command line stands for, in releases from 4.0. */
final class Modes {

    private static final String USAGE =
            "no argument (virtual clock), or one of --leak-tracking, --real-clock, --mock-timer";

    private Modes() {
    }

    static Subject subject(String mode) {
        return switch (mode) {
            case "" -> new Subject("Apache Kafka, virtual clock", everything());
            case "--leak-tracking" -> new Subject(
                    "Apache Kafka GarbageCollectedMemoryPool",
                    Map.of("memory_pool", new MemoryPoolSubject(true)));
            case "--real-clock" -> ofTimer(new RealTimer());
            case "--mock-timer" -> ofTimer(new MockedTimer());
            default -> throw new IllegalArgumentException(USAGE);
        };
    }

    private static Map<String, Component> everything() {
        KafkasClock.mustBeVirtual();
        Map<String, Component> components = new LinkedHashMap<>();
        components.put("timer", new VirtualTimer());
        components.put("purgatory", new PurgatorySubject());
        components.put("memory_pool", new MemoryPoolSubject(false));
        components.put("channel_muting", new ChannelMutingSubject());
        return components;
    }

    private static Subject ofTimer(TimerSubject timer) {
        return new Subject(timer.name(), Map.of("timer", timer));
    }
}
