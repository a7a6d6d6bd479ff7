// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.kafka;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import com.google.gson.JsonPrimitive;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.zip.GZIPOutputStream;

/**
 * Writes the lines of one run of a trace; every method may be called from any thread.
 *
 * <p>Each thread has a buffer of its own, so that threads share nothing but the counter of lines.
 * A thread of the writer takes what is in the buffers and writes it. A thread whose buffer is full
 * waits before it begins its next call. Where writing fails nobody waits any longer, and {@link
 * #close} throws.
 */
final class TraceWriter implements AutoCloseable {

    private static final int MOST_BUFFERED = 256 * 1024;
    private static final int GZIP_BUFFER_BYTES = 64 * 1024;
    private static final int FASTEST = 1;
    private static final long SWEEP_MS = 5;

    /** What one thread has written and nobody has taken; guarded by itself. */
    private static final class Buffer {
        private final String thread;
        private StringBuilder text = new StringBuilder();

        Buffer(String thread) {
            this.thread = thread;
        }

        synchronized boolean isFull() {
            return text.length() >= MOST_BUFFERED;
        }

        synchronized StringBuilder take() {
            StringBuilder taken = text;
            text = new StringBuilder(taken.capacity());
            return taken;
        }
    }

    private final String begun;
    private final AtomicLong numbers = new AtomicLong();
    private final List<Buffer> buffers = new CopyOnWriteArrayList<>();
    private final ThreadLocal<Buffer> own = ThreadLocal.withInitial(this::newBuffer);
    private final OutputStream file;
    private final Thread sweeper = new Thread(this::sweepUntilClosed, "trace-writer");
    private volatile boolean closing;
    private volatile IOException failure;
    private long bytes;

    /** Creates the file, or connects to the topic, and writes the run's first line. */
    TraceWriter(String path, String begin) throws IOException {
        JsonObject line = JsonParser.parseString(begin).getAsJsonObject();
        begun = ",\"run\":" + line.get("run") + ",\"seq\":";
        file = path.startsWith(TopicStream.SCHEME)
                ? new TopicStream(path, line.get("run").getAsString())
                : open(path);
        file.write((begin + "\n").getBytes(StandardCharsets.UTF_8));
        numbers.set(line.get("seq").getAsLong() + 1);
        sweeper.setDaemon(true);
        sweeper.start();
    }

    private static OutputStream open(String path) throws IOException {
        OutputStream plain = new FileOutputStream(path);
        if (!path.endsWith(".gz")) {
            return plain;
        }
        return new GZIPOutputStream(plain, GZIP_BUFFER_BYTES) {
            {
                def.setLevel(FASTEST);
            }
        };
    }

    long lines() {
        return numbers.get();
    }

    /** Bytes before compression; read it after {@link #close}. */
    long bytes() {
        return bytes;
    }

    /** The calling thread begins a call; the operation is JSON. */
    void call(String operation) {
        Buffer buffer = own.get();
        while (buffer.isFull() && failure == null) {
            pause();
        }
        long atNs = System.nanoTime();
        long number = numbers.getAndIncrement();
        synchronized (buffer) {
            begin(buffer, "call", number, atNs).append(",\"operation\":").append(operation);
            buffer.text.append("}\n");
        }
    }

    /** A callback of the task, or of the operation, begins in the calling thread. */
    void event(String event, String name) {
        Buffer buffer = own.get();
        long atNs = System.nanoTime();
        long number = numbers.getAndIncrement();
        synchronized (buffer) {
            begin(buffer, "event", number, atNs).append(",\"event\":\"").append(event);
            buffer.text.append("\",\"task\":\"").append(name).append("\"}\n");
        }
    }

    /** The calling thread's call returns nothing. */
    void returned() {
        returned("");
    }

    /** The calling thread's call returns a value. */
    void returned(boolean result) {
        returned(",\"result\":" + result);
    }

    /** The calling thread's call returns a value. */
    void returned(int result) {
        returned(",\"result\":" + result);
    }

    /** The calling thread's call returns names. */
    void returned(List<String> result) {
        String names = String.join("\",\"", result);
        returned(result.isEmpty() ? ",\"result\":[]" : ",\"result\":[\"" + names + "\"]");
    }

    private void returned(String fields) {
        Buffer buffer = own.get();
        long atNs = System.nanoTime();
        long number = numbers.getAndIncrement();
        synchronized (buffer) {
            begin(buffer, "return", number, atNs).append(fields).append("}\n");
        }
    }

    /** Writes the last line, when nobody else writes any more, and closes the file. */
    @Override
    public void close() throws IOException {
        closing = true;
        try {
            sweeper.join();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
        if (failure != null) {
            throw failure;
        }
        long atNs = System.nanoTime();
        String end = "{\"kind\":\"end\"" + begun + numbers.getAndIncrement() + ",\"at_ns\":" + atNs;
        write(end + "}\n");
        file.close();
    }

    private StringBuilder begin(Buffer buffer, String kind, long number, long atNs) {
        return buffer.text.append("{\"kind\":\"").append(kind).append('"').append(begun)
                .append(number).append(",\"at_ns\":").append(atNs)
                .append(",\"thread\":").append(buffer.thread);
    }

    private Buffer newBuffer() {
        Buffer buffer = new Buffer(new JsonPrimitive(Thread.currentThread().getName()).toString());
        buffers.add(buffer);
        return buffer;
    }

    private void sweepUntilClosed() {
        boolean last = false;
        while (!last) {
            last = closing;
            try {
                for (Buffer buffer : buffers) {
                    StringBuilder taken = buffer.take();
                    if (failure == null && taken.length() > 0) {
                        write(taken.toString());
                    }
                }
            } catch (IOException failed) {
                failure = failed;
            }
            pause();
        }
    }

    private void write(String text) throws IOException {
        byte[] encoded = text.getBytes(StandardCharsets.UTF_8);
        file.write(encoded);
        bytes += encoded.length;
    }

    private static void pause() {
        try {
            TimeUnit.MILLISECONDS.sleep(SWEEP_MS);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
