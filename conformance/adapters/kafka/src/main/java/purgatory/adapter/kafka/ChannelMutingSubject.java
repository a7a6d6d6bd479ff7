// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.kafka;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.apache.kafka.common.memory.SimpleMemoryPool;
import org.apache.kafka.common.network.KafkaChannel;
import org.apache.kafka.common.network.KafkaChannel.ChannelMuteEvent;
import org.apache.kafka.common.network.KafkaChannel.ChannelMuteState;
import org.apache.kafka.common.network.NetworkReceive;
import org.apache.kafka.common.network.Selector;
import org.apache.kafka.common.security.auth.SecurityProtocol;

/**
 * Kafka's selector, channels and memory pool over loopback, and the clients of its connections.
 *
 * <p>Everything happens in the thread of the adapter, so that each step has one outcome but for the
 * order in which the selector reads channels that are ready together.
 */
final class ChannelMutingSubject implements Component {

    private static final int QUIET_POLLS = 3;
    private static final int MANY_POLLS = 10_000;
    private static final long LONG_POLL_MS = TimeUnit.SECONDS.toMillis(10);
    private static final long NO_IDLE_LIMIT_MS = -1;

    private final Events events = new Events();
    private final Map<String, SentRequests> clients = new TreeMap<>();
    private final Map<String, NetworkReceive> handled = new HashMap<>();
    private SelectorHarness harness;
    private boolean tls;
    private long nowMs;

    /** Whether the selector reads one request of a channel after the other, and none ahead. */
    static boolean isOffered() {
        return Stream.of(Selector.class.getDeclaredFields())
                .noneMatch(field -> field.getName().equals("stagedReceives"));
    }

    @Override
    public JsonObject profile() {
        JsonObject profile = new JsonObject();
        profile.addProperty("recovery", "everyone");
        profile.addProperty("ask_again", "with_bytes");
        profile.addProperty("end_while_waiting", "after_recovery");
        profile.add("features", Json.words(
                "plain", "tls", "strict", "non_strict", "poll_while", "respond_first", "throttle",
                "close", "hang_up", "half_close", "reset", "idle_limit", "construct", "elapse"));
        profile.add("observables", Json.words(
                "available_bytes", "open", "waiting", "ordered", "holding", "unread_bytes"));
        return profile;
    }

    @Override
    public void open(JsonObject configuration) throws Exception {
        close();
        if (Json.integer(configuration, "receive_limit_ms", 0) != 0) {
            throw new Unsupported("Kafka has no limit on the time that a receive takes");
        }
        int limitBytes = Json.small(configuration, "limit_bytes", 100);
        int maxRequestBytes = Json.small(configuration, "max_request_bytes", 40);
        boolean strict = Json.truth(configuration, "strict", false);
        long idleMs = Json.integer(configuration, "idle_limit_ms", 0);
        tls = Json.truth(configuration, "tls", false);
        nowMs = 0;
        harness = new SelectorHarness(
                tls ? SecurityProtocol.SSL : SecurityProtocol.PLAINTEXT,
                new SimpleMemoryPool(limitBytes, maxRequestBytes, strict, null),
                maxRequestBytes,
                idleMs == 0 ? NO_IDLE_LIMIT_MS : idleMs);
    }

    @Override
    public void close() {
        SelectorHarness former = harness;
        harness = null;
        clients.clear();
        handled.clear();
        events.clear();
        if (former != null) {
            try {
                former.close();
            } catch (IOException failure) {
                throw new AdapterFailure("the server does not close: " + failure);
            }
        }
    }

    @Override
    public void perform(JsonObject operation, JsonObject reply) {
        decode(operation).attempt(reply, Rejection::reason);
        events.moveInto(reply);
        reply.add("observed", observed());
    }

    private interface Step {
        void make() throws Exception;
    }

    private Call decode(JsonObject operation) {
        String word = Json.text(operation, "op");
        return switch (word) {
            case "connect" -> connect(Json.text(operation, "channel"));
            case "announce" -> announce(
                    Json.text(operation, "channel"),
                    Json.small(operation, "size_bytes"),
                    Json.small(operation, "sent_bytes"));
            case "send" -> send(
                    Json.text(operation, "channel"), Json.small(operation, "sent_bytes"));
            case "poll" -> step(this::pollUntilQuiet);
            case "poll_while" -> pollWhile(Json.text(operation, "request"));
            case "release" -> release(Json.text(operation, "buffer"));
            case "respond" -> ofOpen(Json.text(operation, "channel"), this::respond);
            case "throttle" -> ofOpen(Json.text(operation, "channel"), this::throttle);
            case "unthrottle" -> ofOpen(Json.text(operation, "channel"), this::unthrottle);
            case "close" -> ofOpen(
                    Json.text(operation, "channel"), name -> harness.selector().close(name));
            case "hang_up" -> hangUp(
                    Json.text(operation, "channel"),
                    operation.has("ending") ? Json.text(operation, "ending") : "close");
            case "construct" -> construct(
                    Json.small(operation, "size_bytes"),
                    Json.small(operation, "max_single_bytes"));
            case "elapse" -> elapse(Json.integer(operation, "to_ms"));
            default -> throw new Unsupported("there is no operation '" + word + "' here");
        };
    }

    private static Call step(Step step) {
        return () -> {
            step.make();
            return null;
        };
    }

    private interface OfChannel {
        void make(String name) throws Exception;
    }

    /** What the broker does with a channel if it finds it open, and leaves otherwise. */
    private Call ofOpen(String name, OfChannel step) {
        return step(() -> {
            client(name);
            if (harness.channel(name) != null) {
                step.make(name);
            }
        });
    }

    private SentRequests client(String name) {
        SentRequests client = clients.get(name);
        if (client == null) {
            throw new UnknownName(name);
        }
        return client;
    }

    private Call connect(String name) {
        return step(() -> {
            harness.connect(name);
            clients.put(name, new SentRequests());
        });
    }

    private Call announce(String name, int sizeBytes, int sentBytes) {
        return step(() -> harness.send(name, client(name).announce(sizeBytes, sentBytes)));
    }

    private Call send(String name, int sentBytes) {
        return step(() -> harness.send(name, client(name).send(sentBytes)));
    }

    private void pollUntilQuiet() throws IOException {
        int quiet = 0;
        List<Object> before = seen();
        for (int poll = 0; quiet < QUIET_POLLS; poll++) {
            if (poll == MANY_POLLS) {
                throw new AdapterFailure(MANY_POLLS + " polls in a row each found something to do");
            }
            boolean received = note(harness.poll(0));
            List<Object> after = seen();
            quiet = received || !after.equals(before) ? 0 : quiet + 1;
            before = after;
        }
    }

    /** What tells a poll that did something from one that found nothing to do. */
    private List<Object> seen() throws IOException {
        List<Object> seen = new ArrayList<>();
        seen.add(harness.pool().availableMemory());
        for (String name : clients.keySet()) {
            KafkaChannel channel = harness.channel(name);
            if (channel != null) {
                seen.addAll(List.of(
                        name, channel.muteState(), holds(channel), harness.unread(name)));
            }
        }
        return seen;
    }

    private Call pollWhile(String request) {
        return step(() -> {
            NetworkReceive released = taken(request);
            note(harness.pollWhile(LONG_POLL_MS, () -> {
                harness.release(released);
                harness.selector().wakeup();
            }));
            pollUntilQuiet();
        });
    }

    private boolean note(List<NetworkReceive> received) {
        for (NetworkReceive receive : received) {
            String name = receive.source();
            String request = name + "#" + client(name).numberOf(receive.payload());
            handled.put(request, receive);
            events.record("received", request);
        }
        return !received.isEmpty();
    }

    private NetworkReceive taken(String request) {
        NetworkReceive receive = handled.remove(request);
        if (receive == null) {
            throw new UnknownName(request);
        }
        return receive;
    }

    private Call release(String request) {
        return step(() -> harness.release(taken(request)));
    }

    /** A response that cannot be written closes the connection, as in a poll. */
    private void respond(String name) throws IOException {
        if (!awaitsResponse(harness.channel(name))) {
            return;
        }
        try {
            harness.answer(name);
        } catch (IOException failure) {
            harness.selector().close(name);
            return;
        }
        harness.readAnswer(name);
        harness.respond(name);
    }

    /** The broker throttles a channel as it handles its request, and at no other time. */
    private void throttle(String name) {
        KafkaChannel channel = harness.channel(name);
        if (awaitsResponse(channel) && !isThrottled(channel)) {
            channel.handleChannelMuteEvent(ChannelMuteEvent.THROTTLE_STARTED);
        }
    }

    private void unthrottle(String name) {
        KafkaChannel channel = harness.channel(name);
        if (isThrottled(channel)) {
            channel.handleChannelMuteEvent(ChannelMuteEvent.THROTTLE_ENDED);
            harness.selector().unmute(name);
        }
    }

    private Call hangUp(String name, String word) {
        SelectorHarness.Ending ending = switch (word) {
            case "close" -> SelectorHarness.Ending.CLOSE;
            case "half_close" -> SelectorHarness.Ending.HALF_CLOSE;
            case "reset" -> SelectorHarness.Ending.RESET;
            default -> throw new Unsupported("there is no ending '" + word + "' here");
        };
        return step(() -> {
            client(name);
            harness.end(name, ending);
        });
    }

    /** The broker makes a pool of a limit above 0, and otherwise none. */
    private static Call construct(int limitBytes, int maxRequestBytes) {
        if (limitBytes <= 0 && maxRequestBytes <= 0) {
            throw new Unsupported("the broker's configuration, which refuses this, is not here");
        }
        return step(() -> {
            if (limitBytes > 0) {
                new SimpleMemoryPool(limitBytes, maxRequestBytes, false, null);
            }
        });
    }

    private Call elapse(long toMs) {
        return step(() -> {
            harness.elapse(toMs - nowMs);
            nowMs = toMs;
        });
    }

    private JsonObject observed() {
        JsonObject observed = new JsonObject();
        observed.add("available_bytes", Json.integer(harness.pool().availableMemory()));
        observed.add("open", names(channel -> true));
        observed.add("waiting", names(this::waits));
        observed.add("ordered", names(ChannelMutingSubject::awaitsResponse));
        observed.add("holding", names(ChannelMutingSubject::holds));
        observed.add("unread_bytes", unreadBytes());
        return observed;
    }

    private JsonArray names(Predicate<KafkaChannel> chosen) {
        JsonArray names = new JsonArray();
        for (String name : clients.keySet()) {
            KafkaChannel channel = harness.channel(name);
            if (channel != null && chosen.test(channel)) {
                names.add(name);
            }
        }
        return names;
    }

    /** One state serves both reasons; Kafka keeps a set of the channels muted for order alone. */
    private boolean waits(KafkaChannel channel) {
        return channel.muteState() != ChannelMuteState.NOT_MUTED
                && !harness.isExplicitlyMuted(channel);
    }

    private static boolean awaitsResponse(KafkaChannel channel) {
        return channel.muteState() == ChannelMuteState.MUTED_AND_RESPONSE_PENDING
                || channel.muteState() == ChannelMuteState.MUTED_AND_THROTTLED_AND_RESPONSE_PENDING;
    }

    private static boolean isThrottled(KafkaChannel channel) {
        return channel.muteState() == ChannelMuteState.MUTED_AND_THROTTLED
                || channel.muteState() == ChannelMuteState.MUTED_AND_THROTTLED_AND_RESPONSE_PENDING;
    }

    /** Kafka forgets a receive that is complete. */
    private static boolean holds(KafkaChannel channel) {
        NetworkReceive partial = (NetworkReceive) Private.read(channel, "receive");
        return partial != null && partial.memoryAllocated();
    }

    private JsonElement unreadBytes() {
        if (tls) {
            return JsonNull.INSTANCE;
        }
        long unread = 0;
        for (Map.Entry<String, SentRequests> client : clients.entrySet()) {
            if (harness.channel(client.getKey()) != null) {
                unread += client.getValue().bodyBytesOfLast(unread(client.getKey()));
            }
        }
        return new JsonPrimitive(unread);
    }

    private int unread(String name) {
        try {
            return harness.unread(name);
        } catch (IOException failure) {
            throw new AdapterFailure("the socket of " + name + " cannot be asked: " + failure);
        }
    }
}
