// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.timers;

/** Says that a timer has refused a delay, and not because it is too large. */
final class InvalidDelay extends IllegalArgumentException {
    private static final long serialVersionUID = 1;

    InvalidDelay(IllegalArgumentException refused) {
        super(refused);
    }
}
