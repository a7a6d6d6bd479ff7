// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.kafka;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import com.sun.management.OperatingSystemMXBean;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;

/**
 * Records a trace of Kafka's timer, purgatory or memory pool under a workload of many threads.
 *
 * <p>Nothing is replaced: real clock, Kafka's own reaper and executor. Arguments are the file or
 * the topic ({@code -} for none, to see what recording costs), threads, lines, keys, seed and lines a second
 * (0 for as many as possible). The trace's first line comes on standard input; when that ends the
 * run ends. What was written is printed as one line of JSON.
 */
public final class TraceRecording {

    private TraceRecording() {
    }

    private static final long LONGEST_PAUSE_MS = 2000;

    public static void main(String[] arguments) throws Exception {
        if (KafkasClock.isVirtual()) {
            throw new IllegalStateException("leave the folder of the shadowing class out");
        }
        if (System.nanoTime() < 0) {
            // Kafka rounds towards zero; a trace's milliseconds are rounded down.
            throw new IllegalStateException("the clock reads less than zero on this machine");
        }
        String path = arguments[0];
        Workload.Wish wish = new Workload.Wish(
                Integer.parseInt(arguments[1]),
                Long.parseLong(arguments[2]),
                Integer.parseInt(arguments[3]),
                Long.parseLong(arguments[4]),
                Long.parseLong(arguments[5]));
        BufferedReader input =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        String begin = input.readLine();
        TraceWriter writer = path.equals("-") ? null : new TraceWriter(path, begin);
        Workload workload = workload(writer, wish, begin);
        Thread listener = new Thread(() -> stopAtEnd(input, workload), "listener");
        listener.setDaemon(true);
        listener.start();
        long beginNs = System.nanoTime();
        long beginCpuNs = cpuNs();
        workload.run();
        long endCpuNs = cpuNs();
        long endNs = System.nanoTime();
        if (writer != null) {
            // What was due by now has run by then, and its line has come, or it is missing.
            Thread.sleep(pauseMs(begin));
        }
        workload.close();
        if (writer != null) {
            writer.close();
        }
        System.out.println(told(writer, workload, endNs - beginNs, endCpuNs - beginCpuNs));
        System.exit(0);
    }

    private static Workload workload(TraceWriter writer, Workload.Wish wish, String begin) {
        JsonObject instance =
                Json.object(JsonParser.parseString(begin).getAsJsonObject(), "instance");
        JsonObject configuration = instance.has("configuration")
                ? Json.object(instance, "configuration")
                : new JsonObject();
        TimerSizes sizes = TimerSizes.decode(configuration);
        String component = Json.text(instance, "component");
        return switch (component) {
            case "timer" -> new TimerWorkload(writer, wish, sizes);
            case "purgatory" -> new PurgatoryWorkload(
                    writer, wish, sizes, Json.small(configuration, "purge_interval", 1000));
            case "memory_pool" -> new MemoryPoolWorkload(
                    writer,
                    wish,
                    Json.integer(configuration, "size_bytes"),
                    Json.small(configuration, "max_single_bytes"),
                    Json.truth(configuration, "strict", false));
            default -> throw new IllegalArgumentException("there is no workload of " + component);
        };
    }

    private static long pauseMs(String begin) {
        JsonObject clock = Json.object(JsonParser.parseString(begin).getAsJsonObject(), "clock");
        return Math.min(2 * Json.integer(clock, "lateness_ms", 0), LONGEST_PAUSE_MS);
    }

    private static void stopAtEnd(BufferedReader input, Workload workload) {
        try {
            while (input.readLine() != null) {
                // Only the end matters.
            }
        } catch (IOException closed) {
            // That is an end, too.
        }
        workload.stop();
    }

    private static long cpuNs() {
        return ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
                .getProcessCpuTime();
    }

    private static JsonObject told(
            TraceWriter writer, Workload workload, long elapsedNs, long cpuNs) {
        JsonObject told = new JsonObject();
        told.addProperty("lines", writer == null ? 0 : writer.lines());
        told.addProperty("bytes", writer == null ? 0 : writer.bytes());
        told.addProperty("turns", workload.turns());
        told.addProperty("elapsed_ns", elapsedNs);
        told.addProperty("cpu_ns", cpuNs);
        return told;
    }
}
