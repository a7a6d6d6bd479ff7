// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.kafka;

import java.util.concurrent.RejectedExecutionException;

/** The executor refused a task, as the step wanted it to. */
final class RefusedTask extends RejectedExecutionException {
    private static final long serialVersionUID = 1;
}
