// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.kafka;

/** What the action {@code throw} throws; without stack trace, which nobody reads. */
final class ScriptFailure extends RuntimeException {
    private static final long serialVersionUID = 1;

    ScriptFailure() {
        super("the script says so", null, false, false);
    }
}
