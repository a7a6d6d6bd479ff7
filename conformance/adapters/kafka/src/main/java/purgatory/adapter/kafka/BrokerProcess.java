// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.kafka;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;

/**
 * The process of a whole broker: Kafka's own main class, and a thread that answers for its MBeans.
 *
 * <p>Each line on standard input asks for an attribute, {@code ATTRIBUTE OBJECT-NAME}, where the
 * name may be a pattern that fits one MBean; each line of the answer begins with {@link #ANSWER}.
 * The end of standard input, which comes with the end of the process that started this one, ends
 * it, so that no broker is left behind.
 */
public final class BrokerProcess {

    static final String ANSWER = "mbean ";

    private BrokerProcess() {
    }

    /** Takes the class to run and its arguments. */
    public static void main(String[] arguments) throws Exception {
        Thread answers = new Thread(BrokerProcess::answer, "answers");
        answers.setDaemon(true);
        answers.start();
        String[] others = Arrays.copyOfRange(arguments, 1, arguments.length);
        Class.forName(arguments[0]).getMethod("main", String[].class)
                .invoke(null, (Object) others);
    }

    private static void answer() {
        try (BufferedReader asked = new BufferedReader(
                new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            String line = asked.readLine();
            while (line != null) {
                System.out.println(ANSWER + attribute(line.split(" ", 2)));
                line = asked.readLine();
            }
        } catch (IOException failure) {
            System.err.println("nobody asks any more: " + failure);
        }
        Runtime.getRuntime().halt(1);
    }

    /** The attribute's value, or "none" as long as there is no such MBean. */
    private static Object attribute(String[] asked) {
        MBeanServer server = ManagementFactory.getPlatformMBeanServer();
        try {
            for (ObjectName name : server.queryNames(new ObjectName(asked[1]), null)) {
                return server.getAttribute(name, asked[0]);
            }
            return "none";
        } catch (JMException failure) {
            return failure;
        }
    }
}
