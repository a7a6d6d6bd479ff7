// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.kafka;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;

/** A folder that is deleted on close, and at the latest when the process ends. */
final class TemporaryFolder implements AutoCloseable {

    private final Path path;
    private final Thread atEnd = new Thread(this::delete);

    TemporaryFolder(String prefix) throws IOException {
        path = Files.createTempDirectory(prefix);
        Runtime.getRuntime().addShutdownHook(atEnd);
    }

    Path path() {
        return path;
    }

    @Override
    public void close() {
        Runtime.getRuntime().removeShutdownHook(atEnd);
        delete();
    }

    private void delete() {
        try (Stream<Path> files = Files.walk(path)) {
            files.sorted(Comparator.reverseOrder()).map(Path::toFile).forEach(File::delete);
        } catch (IOException failure) {
            System.err.println("cannot delete " + path + ": " + failure);
        }
    }
}
