// SPDX-License-Identifier: CC0-1.0
package purgatory.peer.kafka;

import purgatory.peer.BadRequest;
import purgatory.peer.Request;

/** How the workload's second thread completes a request. */
enum Completion {

    /** It marks the request and checks its keys, which tries all that is watched under them. */
    CHECK,
    /** It completes the request itself, whatever else is watched. */
    DIRECT;

    static Completion of(Request request) {
        if (!request.has("completion")) {
            return CHECK;
        }
        return switch (request.text("completion")) {
            case "check" -> CHECK;
            case "direct" -> DIRECT;
            default -> throw new BadRequest("'completion' must be check or direct");
        };
    }
}
