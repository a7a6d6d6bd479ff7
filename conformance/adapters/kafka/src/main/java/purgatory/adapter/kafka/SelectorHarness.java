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
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
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
import org.apache.kafka.common.network.TransportLayer;
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

    private static final int ARRIVES_WITHIN_MS = 10_000;
    private static final int MANY_BYTES = 4 << 20;

    /** How a client ends its connection. */
    enum Ending {
        CLOSE,
        /** It sends nothing more, and reads on. */
        HALF_CLOSE,
        RESET
    }

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
        SSLContext context = null;
        if (protocol == SecurityProtocol.SSL) {
            SelfSigned certificate = SelfSigned.shared();
            configuration.putAll(certificate.kafkaConfiguration());
            context = certificate.clientContext();
        }
        tls = context;
        listener.setOption(StandardSocketOptions.SO_RCVBUF, MANY_BYTES);
        listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        selector = selector(maxRequestBytes, idleMs, channelBuilder(protocol, configuration));
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

    /** Muted by the broker, for the order of requests; a channel that waits is not. */
    boolean isExplicitlyMuted(KafkaChannel channel) {
        return ((Set<?>) Private.read(selector, "explicitlyMutedChannels")).contains(channel);
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

    /**
     * Connects and, under TLS, shakes hands to the end.
     *
     * <p>The handshake goes on as in a poll, without one: no other channel is looked at.
     */
    void connect(String name) throws Exception {
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
            return;
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
        java.nio.channels.Selector keys =
                (java.nio.channels.Selector) Private.read(selector, "nioSelector");
        await("the handshake of " + name, () -> {
            keys.select(1);
            channel(name).prepare();
            keys.selectedKeys().clear();
            return handshake.isDone() && channel(name).ready();
        });
        handshake.join();
    }

    /**
     * Writes in one go, under TLS in records of 16 KiB, and waits until the server has them.
     *
     * <p>What is sent to a connection that the server has closed is lost.
     */
    void send(String name, byte[] bytes) throws Exception {
        Connection connection = connections.get(name);
        if (channel(name) == null) {
            return;
        }
        long before = connection.raw().written;
        int unreadBefore = unread(name);
        connection.client().getOutputStream().write(bytes);
        long written = connection.raw().written - before;
        await("bytes of " + name, () -> unread(name) >= unreadBefore + written);
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
            KafkaChannel open = channel(receive.source());
            KafkaChannel from = open == null ? selector.closingChannel(receive.source()) : open;
            from.handleChannelMuteEvent(ChannelMuteEvent.REQUEST_RECEIVED);
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

    /** Writes an empty response to its end, as polls would, without a poll. */
    void answer(String name) throws IOException {
        TransportLayer transport = (TransportLayer) Private.read(channel(name), "transportLayer");
        ByteBuffer response = ByteBuffer.allocate(Integer.BYTES);
        while (response.hasRemaining() || transport.hasPendingWrites()) {
            transport.write(response);
        }
        Object idle = Private.read(selector, "idleExpiryManager");
        if (idle != null) {
            Private.call(idle, "update", name, time.nanoseconds());
        }
    }

    /** The client reads an empty response, if it is there. */
    void readAnswer(String name) throws IOException {
        if (!connections.get(name).raw().isClosed()) {
            Socket client = client(name);
            client.setSoTimeout(ARRIVES_WITHIN_MS);
            if (client.getInputStream().readNBytes(Integer.BYTES).length < Integer.BYTES) {
                throw new IllegalStateException("the response to " + name + " is cut off");
            }
        }
    }

    /** Ends the client's side in one of three ways, and waits until the server's socket knows. */
    void end(String name, Ending ending) throws Exception {
        Connection connection = connections.get(name);
        int port = connection.raw().getLocalPort();
        switch (ending) {
            case CLOSE -> connection.client().close();
            case HALF_CLOSE -> connection.client().shutdownOutput();
            case RESET -> {
                connection.raw().setSoLinger(true, 0);
                connection.raw().close();
            }
            default -> throw new IllegalStateException(ending + " is no ending");
        }
        int serverPort = listener.socket().getLocalPort();
        await("the end of " + name, () -> !TcpTable.isEstablished(serverPort, port));
    }

    @Override
    public void close() throws IOException {
        for (Connection connection : connections.values()) {
            // No port is left to wait for stray bytes; thousands of connections are made.
            if (!connection.raw().isClosed()) {
                connection.raw().setSoLinger(true, 0);
                connection.raw().close();
            }
        }
        selector.close();
        listener.close();
        metrics.close();
    }

    static void await(String what, Callable<Boolean> reached) throws Exception {
        long startNs = System.nanoTime();
        while (!reached.call()) {
            if (System.nanoTime() - startNs > TimeUnit.MILLISECONDS.toNanos(ARRIVES_WITHIN_MS)) {
                throw new AdapterFailure(what + " never came to an end");
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
