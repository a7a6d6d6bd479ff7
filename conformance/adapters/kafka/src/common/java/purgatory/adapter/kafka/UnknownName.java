// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.kafka;

/** A step names something that was never introduced; rejected as {@code unknown_name}. */
final class UnknownName extends RuntimeException {
    private static final long serialVersionUID = 1;

    UnknownName(String name) {
        super(name);
    }
}
