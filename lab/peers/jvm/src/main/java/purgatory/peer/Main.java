// SPDX-License-Identifier: CC0-1.0
package purgatory.peer;

import com.google.gson.JsonObject;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import purgatory.peer.kafka.KafkaPeer;
import purgatory.peer.netty.NettyPeer;

/** Writes the greeting of a peer, then answers one request a line until its input ends. */
public final class Main {

    private Main() {
    }

    public static void main(String[] arguments) throws IOException {
        PrintStream answers = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        System.setOut(System.err);
        String name = arguments.length == 1 ? arguments[0] : "";
        switch (name) {
            case "kafka" -> converse(KafkaPeer.make(), answers);
            case "netty" -> converse(NettyPeer.make(), answers);
            default -> {
                System.err.println("name one peer: kafka or netty");
                System.exit(2);
            }
        }
        System.exit(0);
    }

    private static void converse(Peer peer, PrintStream answers) throws IOException {
        answers.println(peer.greeting());
        BufferedReader requests =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = requests.readLine(); line != null; line = requests.readLine()) {
            if (!line.isBlank()) {
                answers.println(answer(peer, line));
            }
        }
    }

    private static JsonObject answer(Peer peer, String line) {
        try {
            return peer.take(Request.parse(line));
        } catch (BadRequest | CheckFailed own) {
            return error(own.getMessage());
        } catch (Throwable failure) {
            failure.printStackTrace();
            return error(failure.toString());
        }
    }

    private static JsonObject error(String sentence) {
        JsonObject answer = new JsonObject();
        answer.addProperty("error", sentence);
        return answer;
    }
}
