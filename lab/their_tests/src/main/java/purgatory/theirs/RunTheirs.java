// SPDX-License-Identifier: Apache-2.0
package purgatory.theirs;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.Launcher;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import py4j.ClientServer;

/** Runs test classes when the Python process asks for it, whose port is the argument. */
public final class RunTheirs {
    private static Ours ours;

    public static void main(String[] arguments) throws Exception {
        ClientServer server = new ClientServer.ClientServerBuilder(new RunTheirs())
                .javaPort(0)
                .pythonPort(Integer.parseInt(arguments[0]))
                .build();
        server.startServer();
        ours = (Ours) server.getPythonServerEntryPoint(new Class<?>[] {Ours.class});
        System.out.println(server.getJavaServer().getListeningPort());
        while (System.in.read() >= 0) {
            continue; // it says nothing, and ends
        }
        System.exit(0);
    }

    public static Ours ours() {
        return ours;
    }

    /** A line for each test: its class and name, a tab, and what was wrong, if anything. */
    public List<String> run(String classes) {
        LauncherDiscoveryRequest request = LauncherDiscoveryRequestBuilder.request()
                .selectors(Stream.of(classes.split(" "))
                        .map(DiscoverySelectors::selectClass)
                        .toList())
                .build();
        List<String> lines = new ArrayList<>();
        Launcher launcher = LauncherFactory.create();
        launcher.execute(request, new TestExecutionListener() {
            @Override
            public void executionFinished(TestIdentifier test, TestExecutionResult result) {
                if (test.isTest()) {
                    String wrong = result.getThrowable().map(Throwable::toString).orElse("")
                            .replaceAll("\\s+", " ");
                    lines.add(test.getLegacyReportingName() + "\t" + wrong);
                }
            }
        });
        return lines;
    }
}
