// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.kafka;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** The kernel's table of connections, where Linux shows it. */
final class TcpTable {

    private static final List<Path> TABLES =
            List.of(Path.of("/proc/net/tcp6"), Path.of("/proc/net/tcp"));
    private static final int ESTABLISHED = 1;

    private TcpTable() {
    }

    /**
     * Whether the socket on a local port still takes its peer for connected.
     *
     * <p>It does not from the moment when the peer's end or reset has arrived, read or not. False
     * where there is no such table: elsewhere the loopback is trusted to deliver at once.
     */
    static boolean isEstablished(int localPort, int remotePort) throws IOException {
        for (Path table : TABLES) {
            if (Files.exists(table)) {
                for (String line : Files.readAllLines(table)) {
                    String[] columns = line.trim().split("\\s+");
                    // The first line has the names of the columns.
                    if (columns[1].contains(":")
                            && port(columns[1]) == localPort && port(columns[2]) == remotePort) {
                        return Integer.parseInt(columns[3], 16) == ESTABLISHED;
                    }
                }
            }
        }
        return false;
    }

    private static int port(String address) {
        return Integer.parseInt(address.substring(address.indexOf(':') + 1), 16);
    }
}
