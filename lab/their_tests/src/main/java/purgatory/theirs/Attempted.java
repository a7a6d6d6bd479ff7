// SPDX-License-Identifier: Apache-2.0
package purgatory.theirs;

/** What our implementation calls of an operation in Java. */
public interface Attempted {
    boolean tryComplete();

    void onComplete();

    void onExpiration();
}
