// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.timers;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/** The adapter: reads requests, answers them. Its arguments are a subject's name and version. */
public final class Main {
    static final Gson GSON = new GsonBuilder().serializeNulls().create();

    private final Side side;
    private final String version;

    private Main(Side side, String version) {
        this.side = side;
        this.version = version;
    }

    public static void main(String[] arguments) throws IOException {
        PrintStream replies = new PrintStream(
                new FileOutputStream(FileDescriptor.out), false, StandardCharsets.UTF_8);
        System.setOut(System.err); // a stray print is no reply
        Main adapter = new Main(side(arguments[0]), arguments[1]);
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

    private static Side side(String word) {
        return PoolSide.isNamed(word) ? PoolSide.named(word) : new TimerSide(Subject.named(word));
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
                    side.end();
                    side.open(request.getAsJsonObject("configuration"));
                }
                case "do" -> side.carryOut(request.getAsJsonObject("operation"), reply);
                case "end" -> side.end();
                default -> reply.addProperty("unsupported", "there is no such request here");
            }
        } catch (UnsupportedOperationException unsupported) {
            reply.addProperty("unsupported", unsupported.getMessage());
        } catch (RuntimeException failure) {
            reply.addProperty("error", failure.toString());
        }
        return reply;
    }

    private void greet(JsonObject reply) {
        reply.addProperty("protocol", 1);
        reply.add("implementation", GSON.toJsonTree(Map.of(
                "name", side.name(),
                "version", version.equals("jdk") ? Runtime.version().toString() : version,
                "language", "Java",
                "runtime", System.getProperty("java.vm.name") + " " + Runtime.version(),
                "source", side.source())));
        reply.add("components", GSON.toJsonTree(side.components()));
    }

    static long number(JsonObject asked, String name, long otherwise) {
        return asked.has(name) ? asked.get(name).getAsLong() : otherwise;
    }
}
