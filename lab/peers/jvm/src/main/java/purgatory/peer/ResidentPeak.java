// SPDX-License-Identifier: CC0-1.0
package purgatory.peer;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The largest resident set of this process since the last reset, as Linux counts it. */
public final class ResidentPeak {

    private static final Path CLEAR = Path.of("/proc/self/clear_refs");
    private static final Path STATUS = Path.of("/proc/self/status");
    private static final String RESET_PEAK = "5";
    private static final String FIELD = "VmHWM:";

    private ResidentPeak() {
    }

    public static void reset() throws IOException {
        Files.writeString(CLEAR, RESET_PEAK);
    }

    public static double mebibytes() throws IOException {
        for (String line : Files.readAllLines(STATUS)) {
            if (line.startsWith(FIELD)) {
                String kibibytes = line.substring(FIELD.length()).replace("kB", "").strip();
                return Long.parseLong(kibibytes) / 1024.0;
            }
        }
        throw new IOException(STATUS + " has no " + FIELD);
    }
}
