// SPDX-License-Identifier: CC0-1.0
package purgatory.peer;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/**
 * Processor time and time by the clock since it was started; garbage is collected before.
 *
 * <p>All calls come from the measuring thread. The processor time of a process is read in steps of
 * 10 ms, that of a thread in nanoseconds.
 */
public final class Stopwatch {

    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final OperatingSystemMXBean SYSTEM =
            ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);

    private final long processStartNs;
    private final long wallStartNs;
    private final long threadStartNs;
    private long threadNs = Costs.NOT_TOLD;

    private Stopwatch() {
        processStartNs = SYSTEM.getProcessCpuTime();
        wallStartNs = System.nanoTime();
        threadStartNs = THREADS.getCurrentThreadCpuTime();
    }

    public static Stopwatch start() {
        Heap.collect();
        return new Stopwatch();
    }

    /** For a measured part that begins at a set instant; the caller has collected before. */
    public static Stopwatch startWithoutCollecting() {
        return new Stopwatch();
    }

    /** Processor time of this thread so far. */
    public long threadNs() {
        return THREADS.getCurrentThreadCpuTime() - threadStartNs;
    }

    /** Ends the thread's part; the process goes on being measured. */
    public void stopThread() {
        threadNs = threadNs();
    }

    /** Ends the measured part; without {@link #stopThread} the thread's time is not told. */
    public Costs stop() {
        long wallNs = System.nanoTime() - wallStartNs;
        return new Costs(threadNs, SYSTEM.getProcessCpuTime() - processStartNs, wallNs);
    }
}
