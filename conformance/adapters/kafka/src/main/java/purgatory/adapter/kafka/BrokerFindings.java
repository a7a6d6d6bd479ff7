// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.kafka;

import static purgatory.adapter.kafka.MutingFindings.say;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLongArray;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * Two behaviours of waiting channels on a whole released broker, as its clients and MBeans see it.
 *
 * <p>Arguments are the folder of the broker's jars, then names of scenarios, none for all. Output
 * and exit code are those of {@link MutingFindings}.
 */
public final class BrokerFindings {

    private static final String TOPIC = "t";
    private static final int CLIENTS = 8;
    private static final int BATCH_BYTES = 60_000;
    private static final int LIMIT_BYTES = 120_000;
    private static final long LOAD_S = 15;
    private static final long LONG_LOAD_S = 120;
    private static final long STANDSTILL_S = 15;
    private static final long RUNS_WITHIN_S = 120;

    private static final String POOL = "kafka.network:type=SocketServer,name=MemoryPoolAvailable";
    private static final String QUEUE =
            "kafka.network:type=RequestChannel,name=RequestQueueSize";
    private static final String PRODUCED =
            "kafka.network:type=RequestMetrics,name=TotalTimeMs,request=Produce";

    private BrokerFindings() {
    }

    public static void main(String[] arguments) throws Exception {
        Path jars = Path.of(arguments[0]);
        Map<String, MutingFindings.Scenario> scenarios = new TreeMap<>(Map.of(
                "tls-standstill", () -> tlsStandstill(jars),
                "re-authentication", () -> reauthentication(jars),
                "combined-gauge", () -> combinedGauge(jars)));
        List<String> names = Arrays.asList(arguments).subList(1, arguments.length);
        System.exit(MutingFindings.allReproduced(scenarios, names) ? 0 : 1);
    }

    /** Producers over TLS whose requests of several records want more memory than there is. */
    private static boolean tlsStandstill(Path jars) throws Exception {
        say("  expected", "requests go on being served; who waits is served when memory is back");
        Load seen;
        boolean stuck;
        try (WholeBroker broker = started(jars, false, LIMIT_BYTES)) {
            seen = load("seen", broker, "SSL", LIMIT_BYTES, LONG_LOAD_S, 0);
            boolean answered = answersNewClient(broker);
            stuck = !seen.going() && !answered && available(broker) <= 0
                    && broker.attribute("Value", QUEUE).equals("0")
                    && answered(broker) == seen.answered();
            say("  seen", "all clients closed, a new one over plaintext is "
                    + (answered ? "answered" : "not answered in 10 s") + "; " + state(broker));
        }
        long asMany = seen.answered();
        boolean controls;
        try (WholeBroker broker = started(jars, false, LIMIT_BYTES)) {
            controls = load("control", broker, "PLAINTEXT", LIMIT_BYTES, LOAD_S, asMany).going();
        }
        try (WholeBroker broker = started(jars, false, -1)) {
            controls &= load("control", broker, "SSL", -1, LOAD_S, asMany).going();
        }
        return stuck && controls;
    }

    /** The gauge of available memory under load, with the controller in the same process. */
    private static boolean combinedGauge(Path jars) throws Exception {
        say("  expected", "the gauge shows the memory that the broker's requests take");
        try (WholeBroker combined = started(jars, true, LIMIT_BYTES);
                WholeBroker separate = started(jars, false, LIMIT_BYTES)) {
            long seen = load("seen", combined, "PLAINTEXT", LIMIT_BYTES, LOAD_S, 1).lowest();
            long control = load("control", separate, "PLAINTEXT", LIMIT_BYTES, LOAD_S, 1).lowest();
            return seen == LIMIT_BYTES && control < LIMIT_BYTES;
        }
    }

    private static WholeBroker started(Path jars, boolean combined, int limitBytes)
            throws Exception {
        WholeBroker broker = new WholeBroker(jars, combined, Map.of(
                "queued.max.request.bytes", "" + limitBytes,
                "socket.request.max.bytes", "" + LIMIT_BYTES,
                "connections.max.reauth.ms", "2500",
                "num.network.threads", "1",
                "log.segment.bytes", "" + (1 << 20),
                "log.retention.bytes", "" + (1 << 20)));
        try (Admin admin = Admin.create(broker.client("PLAINTEXT"))) {
            admin.createTopics(List.of(new NewTopic(TOPIC, 1, (short) 1))).all()
                    .get(RUNS_WITHIN_S, TimeUnit.SECONDS);
        } catch (ExecutionException | TimeoutException failure) {
            broker.close();
            throw failure;
        }
        return broker;
    }

    /** Whether producers were served to the end, their requests, the gauge's lowest reading. */
    private record Load(boolean going, long answered, long lowest) {
    }

    /** Lets producers run for a time and a number of requests, or until none is served. */
    private static Load load(String label, WholeBroker broker, String listener, int limitBytes,
            long forS, long requests) throws Exception {
        AtomicLongArray served = new AtomicLongArray(CLIENTS);
        AtomicBoolean over = new AtomicBoolean();
        List<Thread> clients = new ArrayList<>();
        for (int client = 0; client < CLIENTS; client++) {
            int number = client;
            Thread thread = new Thread(() -> produce(broker, listener, served, number, over));
            thread.setDaemon(true);
            thread.start();
            clients.add(thread);
        }
        long startNs = System.nanoTime();
        long lastMs = 0;
        long last = 0;
        long nowMs = 0;
        long lowest = Long.MAX_VALUE;
        long answered = 0;
        // In a lull it goes on until the lull ends or is a standstill, so that each is certain.
        while (nowMs - lastMs < STANDSTILL_S * 1000
                && (nowMs < forS * 1000 || answered < requests || nowMs - lastMs > 1000)) {
            Thread.sleep(20);
            nowMs = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNs);
            lowest = Math.min(lowest, available(broker));
            answered = answered(broker);
            long sum = sum(served);
            // Before the first response nobody stands still: all may be slow to start.
            if (sum > last || sum == 0 && nowMs < forS * 1000) {
                last = sum;
                lastMs = nowMs;
            }
        }
        boolean going = nowMs - lastMs < STANDSTILL_S * 1000;
        say("  " + label, String.format("%s, limit %d: %d records produced by %d clients %s, the "
                + "last after %.1f of %.1f s; %s; lowest reading %d bytes", listener, limitBytes,
                sum(served), CLIENTS, served, lastMs / 1e3, nowMs / 1e3, state(broker), lowest));
        over.set(true);
        for (Thread client : clients) {
            client.join();
        }
        return new Load(going, answered, lowest);
    }

    private static String state(WholeBroker broker) throws IOException {
        return available(broker) + " bytes available, " + broker.attribute("Value", QUEUE)
                + " requests queued, " + answered(broker) + " produce requests answered";
    }

    private static long available(WholeBroker broker) throws IOException {
        return Long.parseLong(broker.attribute("Value", POOL));
    }

    private static long answered(WholeBroker broker) throws IOException {
        return Long.parseLong(broker.attribute("Count", PRODUCED));
    }

    private static long sum(AtomicLongArray counts) {
        long sum = 0;
        for (int i = 0; i < counts.length(); i++) {
            sum += counts.get(i);
        }
        return sum;
    }

    /** Sends records without a pause until it is told that the time is over. */
    private static void produce(WholeBroker broker, String listener, AtomicLongArray served,
            int number, AtomicBoolean over) {
        Properties properties = broker.client(listener);
        properties.put("acks", "1");
        properties.put("batch.size", BATCH_BYTES);
        properties.put("linger.ms", 100);
        properties.put("buffer.memory", 4L * BATCH_BYTES);
        properties.put("max.in.flight.requests.per.connection", 1);
        properties.put("enable.idempotence", false);
        properties.put("max.block.ms", 1000);
        byte[] value = new byte[1000];
        Producer<byte[], byte[]> producer = new KafkaProducer<>(
                properties, new ByteArraySerializer(), new ByteArraySerializer());
        while (!over.get()) {
            producer.send(new ProducerRecord<>(TOPIC, value), (metadata, failure) -> {
                if (failure == null) {
                    served.incrementAndGet(number);
                }
            });
        }
        producer.close(Duration.ZERO);
    }

    private static boolean answersNewClient(WholeBroker broker) throws Exception {
        Admin admin = Admin.create(broker.client("PLAINTEXT"));
        try {
            admin.listTopics().names().get(10, TimeUnit.SECONDS);
            return true;
        } catch (TimeoutException failure) {
            return false;
        } finally {
            admin.close(Duration.ZERO);
        }
    }

    /** One client that is made to authenticate again every few seconds. */
    private static boolean reauthentication(Path jars) throws Exception {
        say("  expected", "re-authentication gives its buffers back, at the latest on close");
        try (WholeBroker broker = started(jars, false, LIMIT_BYTES)) {
            Map<Long, Long> plain = availableByReauthentications(broker, "PLAINTEXT");
            Map<Long, Long> seen = availableByReauthentications(broker, "SASL_PLAINTEXT");
            long closed = available(broker);
            say("  seen", "available after so many re-authentications: " + seen
                    + "; after the connection closed: " + closed);
            say("  control", "PLAINTEXT, as many requests: " + plain);
            long lost = LIMIT_BYTES - seen.getOrDefault(1L, (long) LIMIT_BYTES);
            boolean constant = true;
            for (Map.Entry<Long, Long> entry : seen.entrySet()) {
                constant &= entry.getValue() == LIMIT_BYTES - lost * entry.getKey();
            }
            return plain.equals(Map.of(0L, (long) LIMIT_BYTES)) && seen.size() > 3 && lost > 0
                    && constant && closed <= LIMIT_BYTES - lost * (seen.size() - 1);
        }
    }

    private static Map<Long, Long> availableByReauthentications(
            WholeBroker broker, String listener) throws Exception {
        Map<Long, Long> available = new TreeMap<>();
        Properties properties = broker.client(listener);
        properties.put("client.id", "c");
        try (Admin admin = Admin.create(properties)) {
            long startNs = System.nanoTime();
            while (System.nanoTime() - startNs < TimeUnit.SECONDS.toNanos(LOAD_S)) {
                admin.listTopics().names().get(RUNS_WITHIN_S, TimeUnit.SECONDS);
                Thread.sleep(500);
                String times = broker.attribute("successful-reauthentication-total",
                        "kafka.server:type=socket-server-metrics,listener=" + listener
                                + ",networkProcessor=*");
                available.put(times.equals("none") ? 0 : (long) Double.parseDouble(times),
                        available(broker));
            }
        }
        return available;
    }
}
