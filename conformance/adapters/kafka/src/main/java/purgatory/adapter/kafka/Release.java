// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.kafka;

import java.io.IOException;
import java.io.InputStream;
import java.util.Properties;

/** Which release of Kafka is on the class path, and where it comes from. */
final class Release {

    static final String SOURCE = "https://kafka.apache.org";
    static final String ISSUES = "https://issues.apache.org/jira/projects/KAFKA";

    private Release() {
    }

    static String version() throws IOException {
        Properties properties = new Properties();
        try (InputStream file =
                Release.class.getResourceAsStream("/kafka/kafka-version.properties")) {
            properties.load(file);
        }
        return properties.getProperty("version");
    }
}
