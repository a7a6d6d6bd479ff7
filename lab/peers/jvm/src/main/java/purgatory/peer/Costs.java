// SPDX-License-Identifier: CC0-1.0
package purgatory.peer;

/**
 * What the measured part cost, in nanoseconds.
 *
 * @param threadCpuNs processor time of the measuring thread, or {@link #NOT_TOLD}
 * @param processCpuNs processor time of the whole process, or {@link #NOT_TOLD}
 * @param wallNs time by the clock
 */
public record Costs(long threadCpuNs, long processCpuNs, long wallNs) {

    /** Where one thread does not do the work alone, or where a span is too short for the reading. */
    public static final long NOT_TOLD = -1;
}
