// SPDX-License-Identifier: CC0-1.0
package main

import (
	"errors"
	"fmt"
)

// A naive memory pool: put yours in its place. It knows nothing of the protocol.

var (
	errInvalid  = errors.New("invalid argument")
	errNoMemory = errors.New("the memory for a buffer cannot be had")
)

// The bytes of the largest buffer. Go ends a program whose memory runs out, and nothing recovers
// from that: what the machine may not have is refused before it is asked for.
const largestBuffer = 1<<31 - 1

// A buffer has so many bytes; two buffers are the same only if they are the same object.
type buffer struct{ memory []byte }

func newBuffer(sizeBytes int64) (*buffer, error) {
	if sizeBytes > largestBuffer {
		return nil, fmt.Errorf("%w: %d bytes", errNoMemory, sizeBytes)
	}
	return &buffer{make([]byte, sizeBytes)}, nil
}

// A memoryPool grants buffers while there is something left, and says no otherwise.
type memoryPool struct {
	sizeBytes, maxSingleBytes, availableBytes int64
	strict                                    bool
	newBuffer                                 func(int64) (*buffer, error) // where the memory comes from
	granted                                   map[*buffer]bool
	nowMs                                     int64 // a clock that somebody else moves
	isDry                                     bool
	drySinceMs, depletedMs                    int64
	depletedSpells                            int
}

func newMemoryPool(sizeBytes, maxSingleBytes int64, strict bool) (*memoryPool, error) {
	if maxSingleBytes < 1 || sizeBytes < maxSingleBytes {
		return nil, fmt.Errorf("%w: sizes are at least 1, and the largest buffer fits", errInvalid)
	}
	return &memoryPool{
		sizeBytes: sizeBytes, maxSingleBytes: maxSingleBytes, availableBytes: sizeBytes,
		strict: strict, newBuffer: newBuffer, granted: map[*buffer]bool{},
	}, nil
}

// tryAllocate answers nil where there is not enough left.
func (p *memoryPool) tryAllocate(sizeBytes int64) (*buffer, error) {
	if sizeBytes < 1 || sizeBytes > p.maxSingleBytes {
		return nil, fmt.Errorf("%w: a buffer has 1 to %d bytes", errInvalid, p.maxSingleBytes)
	}
	if p.availableBytes < 1 || p.strict && p.availableBytes < sizeBytes {
		if !p.isDry {
			p.isDry, p.drySinceMs = true, p.nowMs
		}
		return nil, nil
	}
	granted, err := p.newBuffer(sizeBytes)
	if err != nil {
		return nil, err // nothing has been taken yet
	}
	p.granted[granted] = true
	p.endDrySpell()
	p.availableBytes -= sizeBytes
	return granted, nil
}

func (p *memoryPool) release(b *buffer) error {
	if b == nil || !p.granted[b] {
		return fmt.Errorf("%w: that is no buffer that is out", errInvalid)
	}
	delete(p.granted, b)
	p.endDrySpell()
	p.availableBytes += int64(len(b.memory))
	return nil
}

func (p *memoryPool) endDrySpell() {
	if p.isDry {
		p.isDry = false
		p.depletedSpells++
		p.depletedMs += p.nowMs - p.drySinceMs
	}
}
