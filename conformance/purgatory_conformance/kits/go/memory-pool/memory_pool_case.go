// SPDX-License-Identifier: CC0-1.0
package main

// The pool behind the protocol: each step becomes a call. Change names until it calls yours.

// What is not declared here is neither asked for nor compared.
var poolProfile = map[string]any{
	"release_validation": "identity",
	"features": []string{
		"strict", "non_strict", "construct", "release_again", "release_slice", "release_copy",
		"release_foreign", "release_nothing", "elapse", "fail", "fill",
	},
	"observables": []string{
		"available_bytes", "used_bytes", "size_bytes", "out_of_memory", "buffer_bytes",
		"depleted_spells", "depleted_ms",
	},
}

func init() {
	components["memory_pool"] = component{poolProfile, newPoolCase}
	reasons[errInvalid] = "invalid_argument"
	reasons[errNoMemory] = "no_memory"
}

// A poolCase has a pool, and the buffers that it granted.
type poolCase struct {
	pool        *memoryPool
	buffers     map[string]*buffer
	bufferBytes any // what this step was granted
}

func newPoolCase(asked configuration) testCase {
	pool, err := newMemoryPool(asked.SizeBytes, asked.MaxSingleBytes, asked.Strict)
	if err != nil {
		panic(err)
	}
	return &poolCase{pool: pool, buffers: map[string]*buffer{}}
}

func (c *poolCase) call(asked operation) (any, error) {
	c.bufferBytes = nil
	known := c.buffers[asked.Buffer]
	switch asked.Op {
	case "allocate":
		c.pool.newBuffer = newBuffer
		if asked.Fail {
			c.pool.newBuffer = noMemory
		}
		granted, err := c.pool.tryAllocate(asked.SizeBytes)
		if granted != nil {
			c.buffers[asked.Buffer] = granted
			c.bufferBytes = len(granted.memory)
		}
		return granted != nil, err
	case "release":
		switch {
		case known == nil:
			return nil, errUnknownName
		case asked.Form == "slice": // another view of the memory
			return nil, c.pool.release(&buffer{known.memory[:]})
		case asked.Form == "copy": // other memory
			return c.releaseOther(int64(len(known.memory)))
		}
		return nil, c.pool.release(known)
	case "release_foreign":
		return c.releaseOther(asked.SizeBytes)
	case "release_nothing":
		return nil, c.pool.release(nil)
	case "fill", "read":
		if known == nil {
			return nil, errUnknownName
		}
		if asked.Op == "read" {
			return allOver(known.memory), nil
		}
		for i := range known.memory {
			known.memory[i] = asked.Value
		}
	case "construct":
		_, err := newMemoryPool(asked.SizeBytes, asked.MaxSingleBytes, false)
		return nil, err
	case "elapse":
		c.pool.nowMs = *asked.ToMs
	default:
		return nil, errUnsupported
	}
	return nil, nil
}

// noMemory stands in for the allocator where it is to fail.
func noMemory(int64) (*buffer, error) { return nil, errNoMemory }

// allOver is the byte that is everywhere, or -1.
func allOver(memory []byte) int {
	for _, each := range memory {
		if each != memory[0] {
			return -1
		}
	}
	if len(memory) == 0 {
		return -1
	}
	return int(memory[0])
}

// releaseOther gives back a buffer that is not the pool's.
func (c *poolCase) releaseOther(sizeBytes int64) (any, error) {
	other, err := newBuffer(sizeBytes)
	if err != nil {
		return nil, err
	}
	return nil, c.pool.release(other)
}

func (c *poolCase) observed() map[string]any {
	return map[string]any{
		"available_bytes": c.pool.availableBytes,
		"used_bytes":      c.pool.sizeBytes - c.pool.availableBytes,
		"size_bytes":      c.pool.sizeBytes,
		"out_of_memory":   c.pool.availableBytes <= 0,
		"buffer_bytes":    c.bufferBytes,
		"depleted_spells": c.pool.depletedSpells,
		"depleted_ms":     c.pool.depletedMs,
	}
}
