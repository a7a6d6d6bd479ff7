package main

import "time"

// splitMix64 gives the inputs, which are drawn before the clock of a measurement starts.
type splitMix64 struct {
	state uint64
}

func (draws *splitMix64) next() uint64 {
	draws.state += 0x9e3779b97f4a7c15
	mixed := draws.state
	mixed = (mixed ^ mixed>>30) * 0xbf58476d1ce4e5b9
	mixed = (mixed ^ mixed>>27) * 0x94d049bb133111eb
	return mixed ^ mixed>>31
}

// span is a range of delays in milliseconds, both ends included.
type span struct {
	lowest  uint64
	highest uint64
}

var (
	farSpan  = span{60_000, 119_999}
	nearSpan = span{1, 2_000}
	// middleSpan is counted from the start of the middle second.
	middleSpan = span{0, 999}
)

func (draws *splitMix64) delays(count int, from span) []time.Duration {
	delays := make([]time.Duration, count)
	for index := range delays {
		milliseconds := from.lowest + (draws.next()>>33)%(from.highest-from.lowest+1)
		delays[index] = time.Duration(milliseconds) * time.Millisecond
	}
	return delays
}

// victims gives count places among pending.
func (draws *splitMix64) victims(count, pending int) []int32 {
	victims := make([]int32, count)
	for index := range victims {
		victims[index] = int32((draws.next() >> 33) % uint64(pending))
	}
	return victims
}
