// SPDX-License-Identifier: Apache-2.0
package purgatory.theirs;

import java.util.List;
import java.util.Map;
import java.util.Scanner;
import java.util.concurrent.ConcurrentHashMap;

/** One of our purgatories, under the names that Kafka's and Fluss's have in common. */
public class OurPurgatory<T extends Attempted> {
    private final int purgatory;
    private final Map<Integer, T> operations = new ConcurrentHashMap<>();

    protected OurPurgatory(int purgeInterval) {
        purgatory = RunTheirs.ours().purgatory(purgeInterval);
    }

    protected boolean watch(T operation, int number, List<?> keys) {
        operations.put(number, operation);
        return RunTheirs.ours().watch(purgatory, number, List.copyOf(keys));
    }

    protected int check(Object key) {
        return RunTheirs.ours().check(purgatory, key);
    }

    protected List<T> cancel(Object key) {
        return new Scanner(RunTheirs.ours().cancelForKey(purgatory, key))
                .tokens()
                .map(Integer::valueOf)
                .map(operations::get)
                .toList();
    }

    public int watched() {
        return RunTheirs.ours().entries(purgatory);
    }

    public int numDelayed() {
        return RunTheirs.ours().timerSize(purgatory);
    }

    public void shutdown() {
        RunTheirs.ours().closePurgatory(purgatory);
    }
}
