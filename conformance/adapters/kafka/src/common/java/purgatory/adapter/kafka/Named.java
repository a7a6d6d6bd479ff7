// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.kafka;

/** A task of a timer's, which goes by a name in events. */
interface Named {

    String name();
}
