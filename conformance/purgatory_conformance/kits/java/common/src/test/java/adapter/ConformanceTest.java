// SPDX-License-Identifier: CC0-1.0
package adapter;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/** The verdict is that of "purgatory check"; a failure shows its report. */
class ConformanceTest {
    /** Fails with "Cannot run program" where the suite is not installed: README.md says how to install it. */
    @Test
    void everyRuleHolds() throws Exception {
        Process suite = new ProcessBuilder("purgatory", "check", "--suite", "quick", "--seed", "1")
                .redirectErrorStream(true)
                .start();
        String report = new String(suite.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, suite.waitFor(), report);
    }
}
