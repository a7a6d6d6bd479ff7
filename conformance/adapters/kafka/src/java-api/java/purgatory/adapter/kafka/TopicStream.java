// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.kafka;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * Writes each line as a record of a topic, {@code kafka://host:port/topic}.
 *
 * <p>The record's key is the run, so that all lines of a run go to one partition. A broker that
 * does not answer makes the writer wait, as a full disk does; lines that cannot be sent are an
 * error, which a later write or {@link #close} throws.
 */
final class TopicStream extends OutputStream {

    static final String SCHEME = "kafka://";
    private static final Pattern ADDRESS = Pattern.compile(SCHEME + "([^/]+)/([^/]+)");

    private final KafkaProducer<byte[], byte[]> producer;
    private final String topic;
    private final byte[] key;
    private volatile Exception failure;

    /** Connects to the brokers of an address, for the lines of a run. */
    TopicStream(String address, String run) throws IOException {
        Matcher said = ADDRESS.matcher(address);
        if (!said.matches()) {
            throw new IOException(address + " is no address of a topic, kafka://host:port/topic");
        }
        topic = said.group(2);
        key = run.getBytes(StandardCharsets.UTF_8);
        ByteArraySerializer bytes = new ByteArraySerializer();
        // Telemetry would need libraries of compression, which the adapter does without.
        producer = new KafkaProducer<>(
                Map.of("bootstrap.servers", said.group(1), "enable.metrics.push", "false"),
                bytes, bytes);
    }

    @Override
    public void write(int one) {
        throw new UnsupportedOperationException("whole lines are written");
    }

    /** Sends lines, each of which ends with a line feed. */
    @Override
    public void write(byte[] lines, int from, int length) throws IOException {
        int begin = from;
        for (int at = from; at < from + length; at++) {
            if (lines[at] == '\n') {
                send(Arrays.copyOfRange(lines, begin, at));
                begin = at + 1;
            }
        }
    }

    private void send(byte[] line) throws IOException {
        throwFailure();
        try {
            producer.send(new ProducerRecord<>(topic, key, line), (sent, failed) -> {
                if (failed != null) {
                    failure = failed;
                }
            });
        } catch (KafkaException failed) {
            throw new IOException("a line cannot be sent to " + topic + ": " + failed, failed);
        }
    }

    @Override
    public void close() throws IOException {
        producer.close();
        throwFailure();
    }

    private void throwFailure() throws IOException {
        if (failure != null) {
            throw new IOException("lines were not sent to " + topic + ": " + failure, failure);
        }
    }
}
