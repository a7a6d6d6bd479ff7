// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.kafka;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.PrintStream;
import java.io.Writer;
import java.nio.charset.StandardCharsets;

/** Reads one request a line from standard input and answers each on standard output. */
public final class Main {

    /** Set here and not by the command line, so that endless recursion ends early everywhere. */
    private static final long STACK_BYTES = 256 * 1024;

    private final Subject subject;
    private Component open;

    private Main(Subject subject) {
        this.subject = subject;
    }

    public static void main(String[] arguments) {
        PrintStream replies = System.out;
        System.setOut(System.err);
        String mode = arguments.length == 0 ? "" : arguments[0];
        new Thread(null, () -> serve(mode, replies), "adapter", STACK_BYTES).start();
    }

    /** Ends the process, since the threads of the timers outlive their last request. */
    private static void serve(String mode, PrintStream replies) {
        int status = 1;
        try {
            new Main(Modes.subject(mode)).converse(replies);
            status = 0;
        } catch (Throwable failure) {
            failure.printStackTrace();
        }
        System.exit(status);
    }

    private void converse(PrintStream replies) throws IOException {
        BufferedReader requests =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        Writer writer =
                new BufferedWriter(new OutputStreamWriter(replies, StandardCharsets.UTF_8));
        for (String line = requests.readLine(); line != null; line = requests.readLine()) {
            if (line.isBlank()) {
                continue;
            }
            JsonObject reply = new JsonObject();
            if (!answer(line, reply)) {
                return;
            }
            writer.write(reply.toString());
            writer.write('\n');
            writer.flush();
        }
    }

    /** Fills the one reply to a request; false where the request is to leave. */
    private boolean answer(String line, JsonObject reply) {
        reply.addProperty("id", 0);
        try {
            JsonObject request = parse(line);
            reply.add("id", request.get("id"));
            switch (Json.text(request, "request")) {
                case "hello" -> introduce(reply);
                case "new" -> open(request);
                case "do" -> perform(Json.object(request, "operation"), reply);
                case "end" -> close();
                case "stop" -> {
                    return false;
                }
                default -> throw new Unsupported("there is no such request here");
            }
        } catch (Unsupported unsupported) {
            reply.addProperty("unsupported", unsupported.getMessage());
        } catch (Json.BadRequest badRequest) {
            reply.addProperty("error", badRequest.getMessage());
        } catch (Throwable failure) {
            reply.addProperty("error", failure.toString());
        }
        return true;
    }

    private static JsonObject parse(String line) {
        try {
            if (JsonParser.parseString(line) instanceof JsonObject request && request.has("id")) {
                return request;
            }
        } catch (JsonParseException notJson) {
            throw new Json.BadRequest("the line is not JSON");
        }
        throw new Json.BadRequest("a request is an object with an 'id'");
    }

    private void introduce(JsonObject reply) throws IOException {
        JsonObject implementation = new JsonObject();
        implementation.addProperty("name", subject.name());
        implementation.addProperty("version", Release.version());
        implementation.addProperty("language", "Java");
        implementation.addProperty("runtime",
                System.getProperty("java.vm.name") + " " + System.getProperty("java.vm.version"));
        implementation.addProperty("source", Release.SOURCE);
        implementation.addProperty("issues", Release.ISSUES);
        JsonObject components = new JsonObject();
        subject.components().forEach((word, part) -> components.add(word, part.profile()));
        reply.addProperty("protocol", 1);
        reply.add("implementation", implementation);
        reply.add("components", components);
    }

    private void open(JsonObject request) {
        close();
        Component component = subject.component(Json.text(request, "component"));
        JsonObject configuration = request.has("configuration")
                ? Json.object(request, "configuration")
                : new JsonObject();
        try {
            component.open(configuration);
            open = component;
        } catch (Unsupported | Json.BadRequest own) {
            throw own;
        } catch (Throwable failure) {
            throw new Unsupported("there can be no such instance: " + failure);
        }
    }

    private void close() {
        Component former = open;
        open = null;
        if (former != null) {
            former.close();
        }
    }

    private void perform(JsonObject operation, JsonObject reply) {
        if (open == null) {
            throw new Json.BadRequest("there is no instance; ask for a new one first");
        }
        open.perform(operation, reply);
    }
}
