// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.kafka;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.fluss.server.utils.timer.DefaultTimer;

/** Which release of Fluss is on the class path, and where it comes from. */
final class Release {

    static final String SOURCE = "https://github.com/apache/fluss";
    static final String ISSUES = "https://github.com/apache/fluss/issues";

    private static final Pattern JAR = Pattern.compile("fluss-server-(.+)\\.jar$");

    private Release() {
    }

    /** The version in the jar's name, since the jar has no other mark of it. */
    static String version() {
        String jar = DefaultTimer.class.getProtectionDomain().getCodeSource().getLocation().getPath();
        Matcher found = JAR.matcher(jar);
        if (!found.find()) {
            throw new IllegalStateException("not the jar of a release: " + jar);
        }
        return found.group(1);
    }
}
