// SPDX-License-Identifier: CC0-1.0
package purgatory.peer;

/** One thing that a peer can be asked; it begins from nothing and leaves nothing behind. */
@FunctionalInterface
public interface Measure {

    Answer take(Request request) throws Exception;
}
