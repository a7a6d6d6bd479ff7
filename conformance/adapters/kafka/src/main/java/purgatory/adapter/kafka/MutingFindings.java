// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.kafka;

import java.io.DataInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.common.MetricName;
import org.apache.kafka.common.memory.MemoryPool;
import org.apache.kafka.common.memory.SimpleMemoryPool;
import org.apache.kafka.common.metrics.MetricConfig;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.metrics.Sensor;
import org.apache.kafka.common.metrics.stats.Meter;
import org.apache.kafka.common.network.KafkaChannel;
import org.apache.kafka.common.network.NetworkReceive;
import org.apache.kafka.common.security.auth.SecurityProtocol;

/**
 * What Kafka's released selector and memory pool do with waiting channels, a scenario at a time.
 *
 * <p>Each prints what is expected, what was seen and what its controls have shown. The exit code
 * is 0 when every scenario asked for shows the behaviour it is named after, and 1 otherwise.
 */
public final class MutingFindings {

    private static final long NEVER_IDLE_MS = TimeUnit.DAYS.toMillis(1);
    private static final int MANY_POLLS = 50;

    /** A scenario, which says whether it saw the behaviour. */
    interface Scenario {
        boolean run() throws Exception;
    }

    private static final Map<String, Scenario> SCENARIOS = new LinkedHashMap<>();

    static {
        SCENARIOS.put("tls-standstill", MutingFindings::tlsStandstill);
        SCENARIOS.put("fixed-order", MutingFindings::fixedOrder);
        SCENARIOS.put("re-authentication", MutingFindings::reauthentication);
        SCENARIOS.put("waiting-is-idle", MutingFindings::waitingIsIdle);
        SCENARIOS.put("release-wakes-nobody", MutingFindings::releaseWakesNobody);
        SCENARIOS.put("depleted-percent", MutingFindings::depletedPercent);
    }

    private MutingFindings() {
    }

    public static void main(String[] names) throws Exception {
        System.exit(allReproduced(SCENARIOS, List.of(names)) ? 0 : 1);
    }

    /** Runs the scenarios of these names, or all. */
    static boolean allReproduced(Map<String, Scenario> scenarios, List<String> names)
            throws Exception {
        if (KafkasClock.isVirtual()) {
            throw new IllegalStateException("leave the folder of the shadowing class out");
        }
        boolean all = true;
        for (String name : names.isEmpty() ? scenarios.keySet() : names) {
            Scenario scenario = scenarios.get(name);
            if (scenario == null) {
                throw new IllegalArgumentException(
                        name + " is no scenario; there are " + scenarios.keySet());
            }
            say(name, "Apache Kafka " + Release.version());
            boolean reproduced = scenario.run();
            say("  verdict", reproduced ? "reproduced" : "NOT reproduced");
            all &= reproduced;
        }
        return all;
    }

    static void say(String what, Object text) {
        System.out.println(what + ": " + text);
    }

    /** Memory comes back during select, while a TLS channel waits with bytes in its buffers. */
    private static boolean tlsStandstill() throws Exception {
        say("  expected", "a channel that is granted memory goes on reading, TLS or not");
        boolean stuck = !receivedAfterRelease("seen", SecurityProtocol.SSL, 60_000, false);
        return stuck
                & receivedAfterRelease("control", SecurityProtocol.PLAINTEXT, 60_000, false)
                & receivedAfterRelease("control", SecurityProtocol.SSL, 60_000, true)
                & receivedAfterRelease("control", SecurityProtocol.SSL, 10_000, false);
    }

    /** Sends the first 10,000 bytes before the release and what is left of the request after it. */
    private static boolean receivedAfterRelease(
            String label, SecurityProtocol protocol, int sizeBytes, boolean unmutedFromOutside)
            throws Exception {
        long idleMs = TimeUnit.MINUTES.toMillis(10);
        try (SelectorHarness harness = harness(protocol, sizeBytes, idleMs)) {
            harness.connect("holder");
            harness.connect("waiter");
            harness.send("holder", SelectorHarness.request(sizeBytes, 1));
            NetworkReceive held = receive(harness);
            byte[] request = SelectorHarness.request(sizeBytes, 2);
            int first = 10_004;
            harness.send("waiter", Arrays.copyOf(request, first));
            harness.poll(0);
            check(muted(harness.channel("waiter")), "the second channel did not wait");
            boolean received = !harness.pollWhile(0, () -> harness.release(held)).isEmpty();
            harness.respond("holder");
            if (unmutedFromOutside) {
                harness.selector().mute("waiter");
                harness.selector().unmute("waiter");
            }
            harness.send("waiter", Arrays.copyOfRange(request, first, request.length));
            for (int poll = 0; !received && poll < MANY_POLLS; poll++) {
                received = !harness.poll(0).isEmpty();
            }
            say("  " + label, protocol + ", " + sizeBytes + " bytes"
                    + (unmutedFromOutside ? ", un-muted from outside" : "")
                    + ": the waiting request is "
                    + (received ? "received" : "not received in " + MANY_POLLS + " polls, its "
                    + "channel " + harness.channel("waiter").muteState() + ", "
                    + harness.pool().availableMemory() + " bytes available, "
                    + harness.unread("waiter") + " bytes unread"));
            if (!received) {
                harness.elapse(idleMs + 1);
                harness.poll(0);
                harness.poll(0);
                say("  " + label, "after the limit for idle connections: "
                        + (harness.channel("waiter") == null ? "closed, " : "open, ")
                        + harness.pool().availableMemory() + " bytes available");
            }
            return received;
        }
    }

    private static boolean muted(KafkaChannel channel) {
        return channel.muteState() != KafkaChannel.ChannelMuteState.NOT_MUTED;
    }

    /** Six clients, each with a request in its socket at all times; memory suffices for one. */
    private static boolean fixedOrder() throws Exception {
        say("  expected", "six clients that always want the same memory are all served");
        int[] seen = served(1000, 0);
        say("  seen", "memory for one request: " + Arrays.toString(seen) + " of 600");
        int[] shuffled = served(50, 950);
        say("  control", "less than a tenth of the pool ever free, so that Kafka shuffles: "
                + Arrays.toString(shuffled) + " of 600");
        return Arrays.stream(seen).filter(count -> count > 0).count() == 1
                && Arrays.stream(shuffled).allMatch(count -> count > 0);
    }

    /** How many of 600 requests each client was served, with a part of the pool never free. */
    private static int[] served(int sizeBytes, int takenBytes) throws Exception {
        try (SelectorHarness harness =
                harness(SecurityProtocol.PLAINTEXT, 1000, NEVER_IDLE_MS)) {
            if (takenBytes > 0) {
                harness.pool().tryAllocate(takenBytes);
            }
            int[] served = new int[6];
            byte[] request = SelectorHarness.request(sizeBytes, 0);
            for (int client = 0; client < served.length; client++) {
                harness.connect("" + client);
            }
            for (int client = 0; client < served.length; client++) {
                harness.send("" + client, request);
            }
            for (int turn = 0; turn < 600; turn++) {
                NetworkReceive received = receive(harness);
                served[Integer.parseInt(received.source())]++;
                harness.release(received);
                harness.respond(received.source());
                harness.send(received.source(), request);
            }
            return served;
        }
    }

    /** One connection that authenticates once and then again and again. */
    private static boolean reauthentication() throws Exception {
        say("  expected", "re-authentication gives its buffers back, at the latest on close");
        int limitBytes = 10_000;
        List<Long> available = new ArrayList<>();
        try (SelectorHarness harness =
                harness(SecurityProtocol.SASL_PLAINTEXT, limitBytes, NEVER_IDLE_MS)) {
            harness.connect("client");
            for (int time = 0; time <= 5; time++) {
                authenticate(harness);
                harness.elapse(2000);
                available.add(harness.pool().availableMemory());
            }
            harness.send("client", SelectorHarness.request(500, 0));
            NetworkReceive ordinary = receive(harness);
            long during = harness.pool().availableMemory();
            harness.release(ordinary);
            long after = harness.pool().availableMemory();
            harness.respond("client");
            harness.end("client", SelectorHarness.Ending.CLOSE);
            SelectorHarness.await("the connection", () -> closed(harness));
            long closed = harness.pool().availableMemory();
            say("  seen", "available after each of one authentication and five more: " + available
                    + "; after the connection closed: " + closed);
            say("  control", "an ordinary request of 500 bytes: " + during + " while it is "
                    + "handled, " + after + " afterwards");
            long lost = available.get(0) - available.get(1);
            boolean constant = true;
            for (int time = 1; time <= 5; time++) {
                constant &= available.get(time - 1) - available.get(time) == lost;
            }
            return available.get(0) == limitBytes && lost > 0 && constant
                    && closed == available.get(5) && after == closed && during == after - 500;
        }
    }

    private static boolean closed(SelectorHarness harness) {
        try {
            harness.poll(0);
            return harness.channel("client") == null;
        } catch (IOException failure) {
            throw new IllegalStateException(failure);
        }
    }

    /** SASL PLAIN as a client speaks it: a handshake that names the mechanism, then the token. */
    private static void authenticate(SelectorHarness harness) throws Exception {
        byte[] token = "\0a\0a".getBytes(StandardCharsets.UTF_8);
        exchange(harness, frame(17, ByteBuffer.allocate(7)
                .putShort((short) 5).put("PLAIN".getBytes(StandardCharsets.UTF_8))));
        exchange(harness, frame(36, ByteBuffer.allocate(8).putInt(token.length).put(token)));
    }

    /** A request of version 1 from the client named "c". */
    private static byte[] frame(int apiKey, ByteBuffer body) {
        int sizeBytes = 11 + body.capacity();
        return ByteBuffer.allocate(4 + sizeBytes).putInt(sizeBytes)
                .putShort((short) apiKey).putShort((short) 1).putInt(0)
                .putShort((short) 1).put((byte) 'c')
                .put(body.flip()).array();
    }

    /** Sends a frame and reads the response, which must hold no error. */
    private static void exchange(SelectorHarness harness, byte[] frame) throws Exception {
        harness.send("client", frame);
        DataInputStream responses =
                new DataInputStream(harness.client("client").getInputStream());
        SelectorHarness.await("an authentication", () -> answered(harness, responses));
        ByteBuffer response = ByteBuffer.wrap(responses.readNBytes(responses.readInt()));
        check(response.getShort(4) == 0, "the server refused the authentication");
    }

    /** A poll, and with what it received the step with which the broker begins anew. */
    private static boolean answered(SelectorHarness harness, DataInputStream responses) {
        try {
            for (NetworkReceive received : harness.poll(0)) {
                harness.respond("client");
                check(harness.channel("client")
                        .maybeBeginServerReauthentication(received, harness::nowNs),
                        "the server took the handshake for an ordinary request");
            }
            return responses.available() > 0;
        } catch (IOException failure) {
            throw new IllegalStateException(failure);
        }
    }

    /** A channel whose request waits for memory longer than the limit for idle connections. */
    private static boolean waitingIsIdle() throws Exception {
        say("  expected", "a channel that waits for memory is not idle");
        long idleMs = TimeUnit.MINUTES.toMillis(10);
        boolean seen = openAfter("seen", idleMs + 1, idleMs);
        boolean control = openAfter("control", idleMs - 1, idleMs);
        return !seen && control;
    }

    private static boolean openAfter(String label, long waitedMs, long idleMs) throws Exception {
        try (SelectorHarness harness = harness(SecurityProtocol.PLAINTEXT, 1000, idleMs)) {
            // Somebody outside this selector holds the memory.
            ByteBuffer held = harness.pool().tryAllocate(1000);
            harness.connect("waiter");
            harness.send("waiter", SelectorHarness.request(1000, 0));
            harness.poll(0);
            int unread = harness.unread("waiter");
            harness.elapse(waitedMs);
            harness.poll(0);
            boolean open = harness.channel("waiter") != null;
            String state = open ? "open" : "closed, "
                    + harness.selector().disconnected().get("waiter").state();
            harness.pool().release(held);
            boolean received = open && receive(harness) != null;
            say("  " + label, "limit " + idleMs + " ms, waited " + waitedMs + " ms with " + unread
                    + " bytes unread: " + state + "; with memory the request is "
                    + (received ? "received" : "lost"));
            return received;
        }
    }

    /** Memory comes back while the network thread selects and nothing else happens. */
    private static boolean releaseWakesNobody() throws Exception {
        say("  expected", "memory that comes back lets a waiting channel read at once");
        long slept = msOfPoll(false, 300);
        say("  seen", "a poll of 300 ms during which memory came back: " + slept
                + " ms, nothing received; the next poll received the request");
        long woken = msOfPoll(true, 10_000);
        say("  control", "a poll of 10000 ms, with a wake-up behind the release: "
                + (woken < 10_000 ? "ended early" : "waited to its end"));
        return slept >= 300 && woken < 10_000;
    }

    private static long msOfPoll(boolean wakeUp, long timeoutMs) throws Exception {
        try (SelectorHarness harness =
                harness(SecurityProtocol.PLAINTEXT, 1000, NEVER_IDLE_MS)) {
            harness.connect("waiter");
            ByteBuffer held = harness.pool().tryAllocate(1000);
            harness.send("waiter", SelectorHarness.request(1000, 0));
            harness.poll(0);
            long startNs = System.nanoTime();
            List<NetworkReceive> received = harness.pollWhile(timeoutMs, () -> {
                harness.pool().release(held);
                if (wakeUp) {
                    harness.selector().wakeup();
                }
            });
            long tookMs = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNs);
            check(received.isEmpty(), "the request was received in the same poll");
            check(harness.poll(0).size() == 1, "the request was not received in the next poll");
            return tookMs;
        }
    }

    /** The broker's sensor of depleted time, on a window of 2 x 20 ms in place of 2 x 30 s. */
    private static boolean depletedPercent() throws Exception {
        say("  expected", "the share of time without memory, from 0 to 100, as it passes");
        MetricName share = new MetricName("MemoryPoolAvgDepletedPercent", "pool", "", Map.of());
        MetricName totalMs = new MetricName("MemoryPoolDepletedTimeTotal", "pool", "", Map.of());
        MetricConfig window = new MetricConfig().samples(2).timeWindow(20, TimeUnit.MILLISECONDS);
        try (Metrics metrics = new Metrics(window, new ArrayList<>(), new SteppedTime())) {
            Sensor sensor = metrics.sensor("MemoryPoolUtilization");
            sensor.add(new Meter(TimeUnit.MILLISECONDS, share, totalMs));
            MemoryPool pool = new SimpleMemoryPool(100, 100, false, sensor);
            ByteBuffer first = pool.tryAllocate(95);
            ByteBuffer second = pool.tryAllocate(100);
            check(pool.tryAllocate(1) == null, "the pool is not depleted");
            Thread.sleep(100);
            double within = value(metrics, totalMs);
            pool.release(first);
            double ended = value(metrics, totalMs);
            long left = pool.availableMemory();
            boolean depleted = pool.isOutOfMemory();
            double shareOfWindow = value(metrics, share);
            Thread.sleep(100);
            pool.release(second);
            double unasked = value(metrics, totalMs) - ended;
            say("  seen", String.format("in a spell of 100 ms: %.0f ms; ended by a release that "
                    + "leaves %d available (still out of memory: %s): %.0f ms; 100 ms more, nobody "
                    + "asks: %.0f ms more; \"percent\" of a window of 20 to 40 ms: %.2f",
                    within, left, depleted, ended, unasked, shareOfWindow));
            sensor.record(5);
            say("  control", String.format("5 ms more, recorded by hand: %.0f ms in all",
                    value(metrics, totalMs)));
            return within == 0 && depleted && ended >= 100 && unasked == 0 && shareOfWindow > 1
                    && value(metrics, totalMs) == ended + 5;
        }
    }

    private static double value(Metrics metrics, MetricName name) {
        return (double) metrics.metric(name).metricValue();
    }

    private static SelectorHarness harness(
            SecurityProtocol protocol, int limitBytes, long idleMs) throws Exception {
        return new SelectorHarness(protocol,
                new SimpleMemoryPool(limitBytes, limitBytes, false, null), limitBytes, idleMs);
    }

    /** Polls until one request is received; there must not be two. */
    private static NetworkReceive receive(SelectorHarness harness) throws IOException {
        for (int poll = 0; poll < MANY_POLLS; poll++) {
            List<NetworkReceive> received = harness.poll(0);
            check(received.size() < 2, "two requests at once");
            if (!received.isEmpty()) {
                return received.get(0);
            }
        }
        throw new IllegalStateException("no request is received in " + MANY_POLLS + " polls");
    }

    private static void check(boolean holds, String otherwise) {
        if (!holds) {
            throw new IllegalStateException(otherwise);
        }
    }
}
