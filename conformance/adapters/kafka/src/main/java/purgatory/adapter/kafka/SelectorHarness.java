// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.kafka;

import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import org.apache.kafka.common.config.AbstractConfig;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigDef.Importance;
import org.apache.kafka.common.config.ConfigDef.Type;
import org.apache.kafka.common.config.types.Password;
import org.apache.kafka.common.memory.MemoryPool;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.network.ChannelBuilder;
import org.apache.kafka.common.network.ChannelBuilders;
import org.apache.kafka.common.network.KafkaChannel;
import org.apache.kafka.common.network.KafkaChannel.ChannelMuteEvent;
import org.apache.kafka.common.network.ListenerName;
import org.apache.kafka.common.network.NetworkReceive;
import org.apache.kafka.common.network.Selector;
import org.apache.kafka.common.security.auth.SecurityProtocol;
import org.apache.kafka.common.security.authenticator.CredentialCache;
import org.apache.kafka.common.security.token.delegation.internals.DelegationTokenCache;
import org.apache.kafka.common.utils.Time;

/**
 * Kafka's released selector over loopback sockets, one poll at a time, in a single thread.
 *
 * <p>Around the selector it does what the broker's network thread does: it accepts and registers
 * connections, mutes a channel at each complete receive, and un-mutes it when the response is
 * complete. Channels have names; a receive names its channel as its source.
 */
final class SelectorHarness implements AutoCloseable {

    private static final long ARRIVES_WITHIN_NS = TimeUnit.SECONDS.toNanos(10);
    private static final int MANY_BYTES = 4 << 20;

    /** A client's socket that counts what it writes, under TLS the encrypted bytes. */
    private static final class CountingSocket extends Socket {

        private long written;

        @Override
        public OutputStream getOutputStream() throws IOException {
            return new FilterOutputStream(super.getOutputStream()) {
                @Override
                public void write(byte[] bytes, int offset, int length) throws IOException {
                    out.write(bytes, offset, length);
                    written += length;
                }
            };
        }
    }

    /** Both ends of a connection: {@code client} is the counting socket, or TLS over it. */
    private record Connection(CountingSocket raw, Socket client, SocketChannel server) {
    }

    private final ServerSocketChannel listener = ServerSocketChannel.open();
    private final Map<String, Connection> connections = new LinkedHashMap<>();
    private final SteppedTime time = new SteppedTime();
    private final Metrics metrics = new Metrics();
    private final MemoryPool pool;
    private final SSLContext tls;
    private final Selector selector;

    /**
     * A selector as the broker makes it for a listener.
     *
     * @param protocol PLAINTEXT, SSL, or SASL_PLAINTEXT with PLAIN, user and password "a"
     * @param pool where the selector takes memory for requests from
     * @param maxRequestBytes the largest size that a request may announce
     * @param idleMs the limit after which an idle connection is closed, on the stepped clock
     */
    SelectorHarness(SecurityProtocol protocol, MemoryPool pool, int maxRequestBytes, long idleMs)
            throws Exception {
        this.pool = pool;
        Map<String, Object> configuration = new HashMap<>(Map.of(
                "listener.name.sasl_plaintext.plain.sasl.jaas.config", new Password(
                        "org.apache.kafka.common.security.plain.PlainLoginModule required "
                                + "user_a=\"a\";"),
                "ssl.client.auth", "none"));
        listener.setOption(StandardSocketOptions.SO_RCVBUF, MANY_BYTES);
        listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        // Kafka reads the certificate's file as it makes the builder, and not again.
        try (TemporaryFolder folder = new TemporaryFolder("selector-harness-")) {
            SSLContext context = null;
            if (protocol == SecurityProtocol.SSL) {
                SelfSigned certificate = SelfSigned.in(folder.path());
                configuration.putAll(certificate.kafkaConfiguration());
                context = certificate.clientContext();
            }
            tls = context;
            selector = selector(maxRequestBytes, idleMs, channelBuilder(protocol, configuration));
        }
    }

    Selector selector() {
        return selector;
    }

    MemoryPool pool() {
        return pool;
    }

    /** Null once the selector has closed it. */
    KafkaChannel channel(String name) {
        return selector.channel(name);
    }

    Socket client(String name) {
        return connections.get(name).client();
    }

    /** Moves the selector's clock, which stands still otherwise. */
    void elapse(long ms) {
        time.elapse(ms);
    }

    long nowNs() {
        return time.nanoseconds();
    }

    /** Connects and, under TLS, shakes hands to the end; the polls inside may receive requests. */
    List<NetworkReceive> connect(String name) throws Exception {
        CountingSocket raw = new CountingSocket();
        raw.setTcpNoDelay(true);
        raw.setSendBufferSize(MANY_BYTES);
        raw.connect(listener.getLocalAddress());
        SocketChannel accepted = listener.accept();
        accepted.configureBlocking(false);
        accepted.socket().setTcpNoDelay(true);
        selector.register(name, accepted);
        if (tls == null) {
            connections.put(name, new Connection(raw, raw, accepted));
            return poll(0);
        }
        SSLSocket client = (SSLSocket) tls.getSocketFactory()
                .createSocket(raw, "localhost", raw.getPort(), true);
        connections.put(name, new Connection(raw, client, accepted));
        CompletableFuture<Void> handshake = CompletableFuture.runAsync(() -> {
            try {
                client.startHandshake();
            } catch (IOException failure) {
                throw new IllegalStateException(failure);
            }
        });
        List<NetworkReceive> received = new ArrayList<>();
        await("the handshake of " + name, () -> {
            received.addAll(pollUnchecked(1));
            return handshake.isDone() && channel(name).ready();
        });
        handshake.join();
        return received;
    }

    /** Writes in one go, under TLS in records of 16 KiB, and waits until the server has them. */
    void send(String name, byte[] bytes) throws Exception {
        Connection connection = connections.get(name);
        long before = connection.raw().written;
        int unreadBefore = unread(name);
        connection.client().getOutputStream().write(bytes);
        long written = connection.raw().written - before;
        await("bytes of " + name, () -> unreadUnchecked(name) >= unreadBefore + written);
    }

    /** A request of a size: its four size bytes, then a body of one repeated byte. */
    static byte[] request(int sizeBytes, int filling) {
        byte[] request = new byte[4 + sizeBytes];
        Arrays.fill(request, (byte) filling);
        ByteBuffer.wrap(request).putInt(sizeBytes);
        return request;
    }

    /** What the server's socket holds and nobody has read, under TLS encrypted. */
    int unread(String name) throws IOException {
        return connections.get(name).server().socket().getInputStream().available();
    }

    /** One poll; channels of complete receives are muted until {@link #respond}. */
    List<NetworkReceive> poll(long timeoutMs) throws IOException {
        selector.poll(timeoutMs);
        List<NetworkReceive> received = new ArrayList<>(selector.completedReceives());
        for (NetworkReceive receive : received) {
            selector.mute(receive.source());
            channel(receive.source()).handleChannelMuteEvent(ChannelMuteEvent.REQUEST_RECEIVED);
        }
        return received;
    }

    /**
     * One poll during which something happens after its look at the memory pool, before select.
     *
     * <p>What another thread does while a poll selects, such as a release, comes at this place.
     */
    List<NetworkReceive> pollWhile(long timeoutMs, Runnable action) throws IOException {
        time.atNextReading(action);
        return poll(timeoutMs);
    }

    /** Gives a request's memory back, as the handler's thread does after its call. */
    void release(NetworkReceive receive) {
        try {
            receive.close();
        } catch (IOException failure) {
            throw new IllegalStateException(failure);
        }
    }

    /** The response is complete, so that the channel may read again. */
    void respond(String name) {
        channel(name).handleChannelMuteEvent(ChannelMuteEvent.RESPONSE_SENT);
        selector.unmute(name);
    }

    /** Ends the client's side: plainly, or with a reset. */
    void end(String name, boolean reset) throws IOException {
        Connection connection = connections.get(name);
        if (reset) {
            connection.raw().setSoLinger(true, 0);
            connection.raw().close();
        } else {
            connection.client().close();
        }
    }

    @Override
    public void close() throws IOException {
        for (Connection connection : connections.values()) {
            connection.raw().close();
        }
        selector.close();
        listener.close();
        metrics.close();
    }

    private List<NetworkReceive> pollUnchecked(long timeoutMs) {
        try {
            return poll(timeoutMs);
        } catch (IOException failure) {
            throw new IllegalStateException(failure);
        }
    }

    private int unreadUnchecked(String name) {
        try {
            return unread(name);
        } catch (IOException failure) {
            throw new IllegalStateException(failure);
        }
    }

    static void await(String what, BooleanSupplier reached) {
        long startNs = System.nanoTime();
        while (!reached.getAsBoolean()) {
            if (System.nanoTime() - startNs > ARRIVES_WITHIN_NS) {
                throw new IllegalStateException(what + " never came to an end");
            }
            Thread.onSpinWait();
        }
    }

    /** The one constructor with everything; its log context's package differs by release. */
    private Selector selector(int maxRequestBytes, long idleMs, ChannelBuilder builder)
            throws ReflectiveOperationException {
        Constructor<?> all = Stream.of(Selector.class.getConstructors())
                .filter(each -> each.getParameterCount() == 12).findAny().orElseThrow();
        Object logContext = all.getParameterTypes()[11].getConstructor().newInstance();
        return (Selector) all.newInstance(maxRequestBytes, idleMs, 0, metrics, time, "harness",
                Map.of(), false, false, builder, pool, logContext);
    }

    /** Kafka's own choice of the builder; parameters are filled by type, which suits releases. */
    private ChannelBuilder channelBuilder(
            SecurityProtocol protocol, Map<String, Object> configuration)
            throws ReflectiveOperationException {
        ConfigDef known = new ConfigDef().withClientSslSupport().withClientSaslSupport()
                .define("sasl.enabled.mechanisms", Type.LIST, "PLAIN", Importance.LOW, "")
                .define("connections.max.reauth.ms", Type.LONG, 3_600_000, Importance.LOW, "");
        Map<Class<?>, Object> arguments = Map.of(
                ListenerName.class, ListenerName.forSecurityProtocol(protocol),
                boolean.class, false,
                SecurityProtocol.class, protocol,
                AbstractConfig.class, new AbstractConfig(known, configuration, false),
                CredentialCache.class, new CredentialCache(),
                DelegationTokenCache.class, new DelegationTokenCache(List.of()),
                Time.class, time);
        Method make = Stream.of(ChannelBuilders.class.getMethods())
                .filter(each -> each.getName().equals("serverChannelBuilder"))
                .findAny().orElseThrow();
        List<Object> filled = new ArrayList<>();
        for (Class<?> type : make.getParameterTypes()) {
            Object argument = arguments.get(type);
            if (argument == null && type.getSimpleName().equals("LogContext")) {
                argument = type.getConstructor().newInstance();
            } else if (type == Supplier.class) {
                // Answers a client's question for the versions of the interface; nobody asks.
                argument = (Supplier<Object>) () -> null;
            } else if (type == Function.class) {
                argument = (Function<Object, Object>) version -> null;
            }
            filled.add(argument);
        }
        return (ChannelBuilder) make.invoke(null, filled.toArray());
    }
}
