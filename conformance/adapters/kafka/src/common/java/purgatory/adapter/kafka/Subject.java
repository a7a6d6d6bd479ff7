// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.kafka;

import java.util.Map;

/** Who is behind the adapter, in the words of a report, and the components that it offers. */
record Subject(String name, Map<String, Component> components) {

    Component component(String word) {
        Component component = components.get(word);
        if (component == null) {
            throw new Unsupported("there is no component '" + word + "' here");
        }
        return component;
    }
}
