// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.kafka;

/** The adapter could not do its own part of a step; answered with {@code error}. */
final class AdapterFailure extends RuntimeException {
    private static final long serialVersionUID = 1;

    AdapterFailure(String sentence) {
        super(sentence);
    }
}
