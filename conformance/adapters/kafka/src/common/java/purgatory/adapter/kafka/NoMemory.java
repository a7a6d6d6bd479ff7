// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.kafka;

/** An allocation failed, as the step wanted it to. */
final class NoMemory extends RuntimeException {
    private static final long serialVersionUID = 1;

    NoMemory(OutOfMemoryError cause) {
        super(cause);
    }
}
