// SPDX-License-Identifier: CC0-1.0
package adapter;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** Answers the runner: reads a request, has it carried out, writes the reply. */
public final class Main {
    /** Every component that is offered: what it declares, and how an instance is made. */
    private static final Map<String, Component> COMPONENTS = new LinkedHashMap<>();

    private record Component(Map<String, Object> profile, Function<Protocol.Configuration, Case> create) {}

    static boolean virtual; // the runner moves the clock // only: wall
    static boolean stepped; // what has expired waits until the runner has it run // only: virtual
    private Case current;

    private boolean answer(String line, Map<String, Object> reply) {
        reply.put("id", 0); // stays 0 where the request cannot be read
        try {
            Protocol.Request asked = Protocol.JSON.fromJson(line, Protocol.Request.class);
            reply.put("id", asked.id());
            switch (asked.request()) {
                case "hello" -> reply.putAll(hello());
                case "new" -> // it also replaces an instance that was never ended
                    current = COMPONENTS.get(asked.component()).create().apply(asked.configuration());
                case "do" -> reply.putAll(current.carryOut(asked.operation()));
                case "end" -> { } // nothing is left to release here
                case "stop" -> {
                    return false;
                }
                default -> reply.put("unsupported", "there is no request " + asked.request() + " here");
            }
        } catch (RuntimeException error) { // the adapter itself failed; the runner will say so
            reply.put("error", error.toString());
        }
        return true;
    }

    private static Map<String, Object> hello() {
        Map<String, Object> profiles = new LinkedHashMap<>();
        COMPONENTS.forEach((name, offered) -> profiles.put(name, offered.profile()));
        Map<String, String> implementation =
                Map.of("name", "naive implementation", "version", "1", "language", "Java");
        return Map.of("protocol", 1, "implementation", implementation, "components", profiles);
    }

    public static void main(String[] arguments) throws Exception {
        virtual = List.of(arguments).contains("--virtual"); // only: wall
        stepped = List.of(arguments).contains("--stepped"); // only: virtual
        COMPONENTS.put("timer", new Component(TimerCase.PROFILE, TimerCase::new)); // only: timer
        COMPONENTS.put("purgatory", new Component(PurgatoryCase.PROFILE, PurgatoryCase::new)); // only: purgatory
        COMPONENTS.put("memory_pool", new Component(MemoryPoolCase.PROFILE, MemoryPoolCase::new)); // only: memory_pool
        PrintStream replies = System.out;
        System.setOut(System.err); // a stray print is no reply
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        Main adapter = new Main();
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            Map<String, Object> reply = new LinkedHashMap<>();
            if (line.isBlank()) {
                continue;
            }
            if (!adapter.answer(line, reply)) {
                return;
            }
            replies.write((Protocol.JSON.toJson(reply) + "\n").getBytes(StandardCharsets.UTF_8));
            replies.flush(); // or the runner waits for a reply that lies in a buffer
        }
    }
}
