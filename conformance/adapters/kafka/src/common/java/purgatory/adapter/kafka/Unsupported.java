// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.kafka;

/** What a subject does not offer; answered with {@code unsupported}. */
final class Unsupported extends RuntimeException {
    private static final long serialVersionUID = 1;

    Unsupported(String sentence) {
        super(sentence);
    }
}
