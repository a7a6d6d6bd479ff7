// SPDX-License-Identifier: CC0-1.0
package purgatory.peer;

/** A line that is no request, or one that cannot be met; answered with {@code error}. */
public final class BadRequest extends RuntimeException {

    private static final long serialVersionUID = 1;

    public BadRequest(String problem) {
        super(problem);
    }
}
