// SPDX-License-Identifier: CC0-1.0
package main

import (
	"errors"
	"testing"
)

const large = 1 << 50

func TestAnAllocationThatFailsTakesNothing(t *testing.T) {
	pool, _ := newMemoryPool(large, large, false)
	for _, size := range []int64{large / 2, largestBuffer + 1} {
		if granted, err := pool.tryAllocate(size); granted != nil || !errors.Is(err, errNoMemory) {
			t.Fatalf("%d bytes: %v", size, err)
		}
	}
	if pool.availableBytes != large || len(pool.granted) != 0 {
		t.Fatalf("%d available, %d granted", pool.availableBytes, len(pool.granted))
	}
	if granted, err := pool.tryAllocate(1); granted == nil {
		t.Fatal(err)
	}
}

func TestAnAllocationThatFailsEndsNoDrySpell(t *testing.T) {
	pool, _ := newMemoryPool(large, large, true)
	_, _ = pool.tryAllocate(1)
	_, _ = pool.tryAllocate(large) // a dry spell begins
	if _, err := pool.tryAllocate(large / 2); !errors.Is(err, errNoMemory) || pool.depletedSpells != 0 {
		t.Fatalf("%v, %d spells", err, pool.depletedSpells)
	}
	if _, err := pool.tryAllocate(1); err != nil || pool.depletedSpells != 1 {
		t.Fatalf("%v, %d spells", err, pool.depletedSpells)
	}
}
