// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.kafka;

import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** A purgatory's watcher lists, read by reflection: fields of one name in every release. */
final class WatcherLists {

    /** What a walk through all lists counts. */
    record Counts(int entries, int keys, int staleEntries, int staleOperations) {
    }

    private final List<Map<?, ?>> shards = new ArrayList<>();
    private final Field operations;

    WatcherLists(Object purgatory) {
        Object lists = Private.read(purgatory, "watcherLists");
        Collection<?> each =
                lists instanceof Object[] array ? Arrays.asList(array) : (Collection<?>) lists;
        for (Object list : each) {
            shards.add(ReleasedPurgatory.watchersByKey(Private.read(list, "watchersByKey")));
        }
        operations = Private.field(
                Private.type(purgatory.getClass().getName() + ReleasedPurgatory.WATCHERS), "operations");
    }

    Counts count() {
        int entries = 0;
        int keys = 0;
        int staleEntries = 0;
        Set<Object> staleOperations = new HashSet<>();
        for (Map<?, ?> shard : shards) {
            keys += shard.size();
            for (Object watchers : shard.values()) {
                for (Object operation : (Collection<?>) Private.read(watchers, operations)) {
                    entries++;
                    if (((ScriptedOperation) operation).isCompleted()) {
                        staleEntries++;
                        staleOperations.add(operation);
                    }
                }
            }
        }
        return new Counts(entries, keys, staleEntries, staleOperations.size());
    }
}
