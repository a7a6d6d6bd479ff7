// SPDX-License-Identifier: CC0-1.0
package purgatory.peer.kafka;

import java.util.List;
import purgatory.peer.SplitMix;

/** Three different keys for each operation, drawn beforehand. */
final class KeyChoice {

    static final int EACH = 3;

    private final List<Key> all;
    /** Three for each operation; empty where there are but three keys. */
    private final int[] drawn;

    KeyChoice(int keys, int operations, SplitMix draws) {
        all = Key.make(keys);
        drawn = new int[keys == EACH ? 0 : Math.multiplyExact(EACH, operations)];
        for (int i = 0; i < drawn.length; i += EACH) {
            drawThree(i, draws);
        }
    }

    private void drawThree(int from, SplitMix draws) {
        int first = draws.below(all.size());
        int second = first;
        while (second == first) {
            second = draws.below(all.size());
        }
        int third = first;
        while (third == first || third == second) {
            third = draws.below(all.size());
        }
        drawn[from] = first;
        drawn[from + 1] = second;
        drawn[from + 2] = third;
    }

    List<Key> all() {
        return all;
    }

    List<Key> of(int operation) {
        if (drawn.length == 0) {
            return all;
        }
        int from = EACH * operation;
        return List.of(all.get(drawn[from]), all.get(drawn[from + 1]), all.get(drawn[from + 2]));
    }
}
