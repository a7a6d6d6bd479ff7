// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.kafka;

/** What a severe throw of a script is: an error, which a handler of exceptions does not catch. */
final class SevereScriptFailure extends Error {
    private static final long serialVersionUID = 1;

    SevereScriptFailure() {
        super("the script says so", null, false, false);
    }
}
