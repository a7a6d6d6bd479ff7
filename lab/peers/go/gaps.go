package main

import (
	"math/bits"
	"time"
)

// Gaps are counted in classes, because a list of them would grow and so cause the pauses that are looked for.
// A power of two has 2**classBits classes; a class is less than 1 % wide.
const classBits = 7

type gaps struct {
	classes [(64 - classBits + 1) << classBits]uint32
	count   uint64
	longest time.Duration
}

func (gaps *gaps) note(gap time.Duration) {
	gaps.classes[classOf(uint64(gap))]++
	gaps.count++
	gaps.longest = max(gaps.longest, gap)
}

// exceededByOneIn gives the upper end of the class above which lies at most one gap in so many.
func (gaps *gaps) exceededByOneIn(many uint64) time.Duration {
	allowed := gaps.count / many
	above := uint64(0)
	for class := len(gaps.classes) - 1; class >= 0; class-- {
		above += uint64(gaps.classes[class])
		if above > allowed {
			return min(gaps.longest, time.Duration(upperEnd(class)))
		}
	}
	return 0
}

func classOf(gap uint64) int {
	shift := max(0, bits.Len64(gap)-classBits-1)
	return shift<<classBits + int(gap>>shift)
}

func upperEnd(class int) uint64 {
	shift := max(0, class>>classBits-1)
	return (uint64(class-shift<<classBits)+1)<<shift - 1
}
