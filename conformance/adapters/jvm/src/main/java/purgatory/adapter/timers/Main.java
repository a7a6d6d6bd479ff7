// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.timers;

import com.google.gson.Gson;
import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** The adapter: reads requests, answers them. Its arguments are a timer's name and version. */
public final class Main {
    private static final Gson GSON = new Gson();

    private final String subject;
    private final String version;
    private List<JsonObject> events = new ArrayList<>(); // guarded by itself
    private Timer timer;

    private Main(String subject, String version) {
        this.subject = subject;
        this.version = version;
    }

    public static void main(String[] arguments) throws IOException {
        PrintStream replies = new PrintStream(
                new FileOutputStream(FileDescriptor.out), false, StandardCharsets.UTF_8);
        System.setOut(System.err); // a stray print is no reply
        Main adapter = new Main(arguments[0], arguments[1]);
        BufferedReader requests = new BufferedReader(
                new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = requests.readLine(); line != null; line = requests.readLine()) {
            if (line.isBlank()) {
                continue;
            }
            JsonObject reply = adapter.answer(line);
            if (reply == null) {
                break;
            }
            replies.print(GSON.toJson(reply) + "\n");
            replies.flush();
        }
        System.exit(0); // whatever threads a timer has left
    }

    /** The reply to a line, none to "stop". */
    private JsonObject answer(String line) {
        JsonObject reply = new JsonObject();
        reply.addProperty("id", 0);
        try {
            JsonObject request = JsonParser.parseString(line).getAsJsonObject();
            reply.add("id", request.get("id"));
            switch (request.get("request").getAsString()) {
                case "stop" -> {
                    return null;
                }
                case "hello" -> greet(reply);
                case "new" -> {
                    end();
                    timer = make(request.getAsJsonObject("configuration"));
                }
                case "do" -> carryOut(request.getAsJsonObject("operation"), reply);
                case "end" -> end();
                default -> reply.addProperty("unsupported", "there is no such request here");
            }
        } catch (RuntimeException failure) {
            reply.addProperty("error", failure.toString());
        }
        return reply;
    }

    private void greet(JsonObject reply) {
        String source = switch (subject) {
            case "netty", "netty-size" -> "https://github.com/netty/netty";
            case "agrona" -> "https://github.com/aeron-io/agrona";
            default -> "https://github.com/openjdk/jdk";
        };
        reply.addProperty("protocol", 1);
        reply.add("implementation", GSON.toJsonTree(Map.of(
                "name", switch (subject) {
                    case "netty", "netty-size" -> "Netty HashedWheelTimer";
                    case "agrona" -> "Agrona DeadlineTimerWheel";
                    default -> "ScheduledThreadPoolExecutor";
                },
                "version", version.equals("jdk") ? Runtime.version().toString() : version,
                "language", "Java",
                "runtime", System.getProperty("java.vm.name") + " " + Runtime.version(),
                "source", source)));
        reply.add("components", GSON.toJsonTree(Map.of("timer", profile())));
    }

    private Map<String, Object> profile() {
        return switch (subject) {
            case "netty" -> NettyTimer.PROFILE;
            case "netty-size" -> NettyTimer.PROFILE_WITH_SIZE;
            case "agrona" -> AgronaTimer.PROFILE;
            default -> ExecutorTimer.PROFILE;
        };
    }

    private Timer make(JsonObject asked) {
        long tickMs = number(asked, "tick_ms", 1);
        int wheelSize = (int) number(asked, "wheel_size", 20);
        // An instance that has been replaced may still run a task: each has a list of its own.
        List<JsonObject> told = new ArrayList<>();
        events = told;
        Consumer<String> ran = task -> tell(told, task);
        return switch (subject) {
            case "netty", "netty-size" -> new NettyTimer(tickMs, wheelSize, ran);
            case "agrona" -> new AgronaTimer(wheelSize, number(asked, "start_ms", 0), ran);
            default -> new ExecutorTimer(ran);
        };
    }

    private void end() {
        if (timer != null) {
            timer.close();
            timer = null;
        }
    }

    private void carryOut(JsonObject operation, JsonObject reply) {
        boolean isWall = "wall".equals(profile().get("clock"));
        long calledMs = nowMs();
        switch (operation.get("op").getAsString()) {
            case "add" -> timer.add(task(operation), operation.get("delay_ms").getAsLong());
            case "cancel" -> timer.cancel(task(operation));
            case "elapse" -> timer.elapse(operation.get("to_ms").getAsLong());
            case "advance" -> {
                timer.elapse(operation.get("to_ms").getAsLong());
                reply.addProperty("result", timer.advance());
            }
            case "wait" -> pause(operation.get("for_ms").getAsLong());
            default -> {
                reply.addProperty("unsupported", "there is no such operation here");
                return;
            }
        }
        if (isWall) {
            reply.addProperty("called_ms", calledMs);
            reply.addProperty("returned_ms", nowMs());
        }
        reply.add("observed", GSON.toJsonTree(timer.observed()));
        JsonArray told = new JsonArray();
        synchronized (events) {
            events.forEach(told::add);
            events.clear();
        }
        reply.add("events", told);
    }

    private void tell(List<JsonObject> told, String task) {
        JsonObject event = new JsonObject();
        event.addProperty("kind", "ran");
        event.addProperty("task", task);
        if ("wall".equals(profile().get("clock"))) {
            event.addProperty("at_ms", nowMs());
        }
        synchronized (told) {
            told.add(event);
        }
    }

    private static void pause(long forMs) {
        try {
            Thread.sleep(forMs);
        } catch (InterruptedException interrupted) {
            throw new IllegalStateException(interrupted);
        }
    }

    private static String task(JsonObject operation) {
        return operation.get("task").getAsString();
    }

    private static long number(JsonObject asked, String name, long otherwise) {
        return asked.has(name) ? asked.get(name).getAsLong() : otherwise;
    }

    /** The clock of all readings, which is that of both timers with threads, rounded down. */
    private static long nowMs() {
        return Math.floorDiv(System.nanoTime(), 1_000_000L);
    }
}
