// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.kafka;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.TimeUnit;

/**
 * A released Kafka of one broker, in a temporary folder, with its controller beside it or inside.
 *
 * <p>It listens on the loopback address with PLAINTEXT, SSL and SASL_PLAINTEXT. Kafka's own
 * StorageTool formats its folders and Kafka's own main class runs its processes.
 */
final class WholeBroker implements AutoCloseable {

    static final String USER = "org.apache.kafka.common.security.plain.PlainLoginModule required "
            + "username=\"a\" password=\"a\"";

    /** 16 bytes in Base64, as the storage tool wants them. */
    private static final String CLUSTER = "bG9vcGJhY2stY2x1c3Rlcg";
    private static final long ENDS_WITHIN_S = 60;
    private static final List<String> LISTENERS =
            List.of("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "CONTROLLER");

    private final TemporaryFolder folder = new TemporaryFolder("whole-broker-");
    private final SelfSigned certificate = SelfSigned.shared();
    private final List<Integer> ports = new ArrayList<>();
    private final List<Process> processes = new ArrayList<>();
    private final String classPath;
    private final BufferedWriter asked;
    private final BufferedReader answers;

    /**
     * Formats and starts.
     *
     * @param jars the folder of the jars that the broker runs with
     * @param combined whether a single process is broker and controller
     * @param settings what the broker has besides addresses, certificates and folders
     */
    WholeBroker(Path jars, boolean combined, Map<String, String> settings) throws Exception {
        Path ours = Path.of(BrokerProcess.class.getProtectionDomain().getCodeSource()
                .getLocation().toURI());
        classPath = ours + File.pathSeparator + jars.resolve("*");
        for (int i = 0; i < LISTENERS.size(); i++) {
            try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
                ports.add(free.getLocalPort());
            }
        }
        if (!combined) {
            node(2, "controller", LISTENERS.subList(3, 4), Map.of());
        }
        Process broker = combined
                ? node(2, "broker,controller", LISTENERS, settings)
                : node(1, "broker", LISTENERS.subList(0, 3), settings);
        asked = broker.outputWriter();
        answers = broker.inputReader();
    }

    /** The address of a listener, as clients take it. */
    String address(String listener) {
        return "127.0.0.1:" + ports.get(LISTENERS.indexOf(listener));
    }

    /** What every client of a listener needs. */
    Properties client(String listener) {
        Properties properties = new Properties();
        properties.put("bootstrap.servers", address(listener));
        properties.put("security.protocol", listener);
        if (listener.equals("SSL")) {
            properties.putAll(certificate.kafkaConfiguration());
        } else if (listener.equals("SASL_PLAINTEXT")) {
            properties.put("sasl.mechanism", "PLAIN");
            properties.put("sasl.jaas.config", USER + ";");
        }
        return properties;
    }

    /** The value of an MBean's attribute as text. */
    String attribute(String attribute, String name) throws IOException {
        asked.write(attribute + " " + name + "\n");
        asked.flush();
        String line = answers.readLine();
        while (line != null && !line.startsWith(BrokerProcess.ANSWER)) {
            line = answers.readLine();
        }
        if (line == null) {
            throw new IllegalStateException("the broker is gone: " + log());
        }
        return line.substring(BrokerProcess.ANSWER.length());
    }

    @Override
    public void close() {
        // The controller last: a broker that stops tells it so.
        for (int i = processes.size() - 1; i >= 0; i--) {
            processes.get(i).destroy();
            awaitEnd(processes.get(i));
        }
        folder.close();
    }

    /** Formats the folder of a node and starts the node. */
    private Process node(int id, String roles, List<String> listeners, Map<String, String> settings)
            throws Exception {
        List<String> addresses = new ArrayList<>();
        for (String listener : listeners) {
            addresses.add(listener + "://" + address(listener));
        }
        Properties properties = new Properties();
        properties.putAll(certificate.kafkaConfiguration());
        properties.putAll(Map.of(
                "process.roles", roles,
                "node.id", "" + id,
                "controller.quorum.voters", "2@" + address("CONTROLLER"),
                "controller.listener.names", "CONTROLLER",
                "listeners", String.join(",", addresses),
                "listener.security.protocol.map",
                "PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT",
                "sasl.enabled.mechanisms", "PLAIN",
                "listener.name.sasl_plaintext.plain.sasl.jaas.config", USER + " user_a=\"a\";",
                "log.dirs", folder.path().resolve("log-" + id).toString()));
        properties.putAll(settings);
        Path file = folder.path().resolve(id + ".properties");
        try (BufferedWriter writer = Files.newBufferedWriter(file)) {
            properties.store(writer, null);
        }
        Process format = start("kafka.tools.StorageTool", "format",
                "--cluster-id", CLUSTER, "--config", file.toString());
        awaitEnd(format);
        if (format.exitValue() != 0) {
            throw new IllegalStateException("the storage tool failed: " + log());
        }
        Process process = start("kafka.Kafka", file.toString());
        processes.add(process);
        return process;
    }

    private Process start(String mainClass, String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC", "-Xmx400m", "-cp", classPath,
                BrokerProcess.class.getName(), mainClass));
        command.addAll(List.of(arguments));
        return new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.appendTo(
                        folder.path().resolve("error.log").toFile()))
                .start();
    }

    private static void awaitEnd(Process process) {
        try {
            if (!process.waitFor(ENDS_WITHIN_S, TimeUnit.SECONDS)) {
                process.destroyForcibly().waitFor();
            }
        } catch (InterruptedException interrupted) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }

    private String log() throws IOException {
        return Files.readString(folder.path().resolve("error.log"));
    }
}
