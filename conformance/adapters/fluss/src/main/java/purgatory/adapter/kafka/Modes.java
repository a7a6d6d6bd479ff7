// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.kafka;

import java.util.LinkedHashMap;
import java.util.Map;

/** The components of Apache Fluss that are ports of Kafka's. */
final class Modes {

    private Modes() {
    }

    static Subject subject(String mode) {
        if (!mode.isEmpty()) {
            throw new IllegalArgumentException("there is no argument here");
        }
        Map<String, Component> components = new LinkedHashMap<>();
        components.put("timer", new VirtualTimer());
        components.put("purgatory", new PurgatorySubject());
        return new Subject("Apache Fluss, virtual clock", components);
    }
}
