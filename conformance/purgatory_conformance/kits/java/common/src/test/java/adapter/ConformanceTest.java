// SPDX-License-Identifier: CC0-1.0
package adapter;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.fail;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/** The verdict is that of "purgatory check"; a failure shows its report. */
class ConformanceTest {
    @Test
    void everyRuleHolds() throws Exception {
        Process suite = started(new ProcessBuilder("purgatory", "check", "--suite", "quick", "--seed", "1"));
        String report = new String(suite.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, suite.waitFor(), report);
    }

    private static Process started(ProcessBuilder suite) {
        try {
            return suite.redirectErrorStream(true).start();
        } catch (IOException none) {
            return fail("there is no command 'purgatory' on the PATH: README.md says how to install it", none);
        }
    }
}
