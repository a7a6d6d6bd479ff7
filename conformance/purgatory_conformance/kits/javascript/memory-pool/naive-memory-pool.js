// SPDX-License-Identifier: CC0-1.0
// A naive memory pool: put yours in its place. It knows nothing of the protocol.

/** An argument that no pool takes. */
export class Invalid extends Error {}

/** A buffer: two are the same only if they are the same object. */
export class Memory {
  /** @param {number} sizeBytes */
  constructor(sizeBytes) {
    this.bytes = new Uint8Array(sizeBytes); // may throw a RangeError
  }
}

/** Grants buffers while there is something left, and says no otherwise. */
export class MemoryPool {
  /** @type {Set<Memory>} */
  granted = new Set();
  /** Where the memory comes from. */
  newMemory = (/** @type {number} */ sizeBytes) => new Memory(sizeBytes);
  nowMs = 0; // a clock that somebody else moves
  /** @type {number | null} */
  drySinceMs = null;
  depletedSpells = 0;
  depletedMs = 0;

  /** @param {number} sizeBytes @param {number} maxSingleBytes @param {boolean} strict */
  constructor(sizeBytes, maxSingleBytes, strict) {
    if (!(1 <= maxSingleBytes && maxSingleBytes <= sizeBytes)) {
      throw new Invalid("sizes are at least 1, and the largest buffer fits into the pool");
    }
    this.sizeBytes = sizeBytes;
    this.maxSingleBytes = maxSingleBytes;
    this.availableBytes = sizeBytes;
    this.strict = strict;
  }

  /** Grants a buffer, or null where there is not enough left. @param {number} sizeBytes */
  tryAllocate(sizeBytes) {
    if (!(1 <= sizeBytes && sizeBytes <= this.maxSingleBytes)) {
      throw new Invalid(`a buffer has 1 to ${this.maxSingleBytes} bytes`);
    }
    if (this.availableBytes < (this.strict ? sizeBytes : 1)) {
      this.drySinceMs ??= this.nowMs;
      return null;
    }
    const memory = this.newMemory(sizeBytes); // nothing is taken yet, should it throw
    this.granted.add(memory);
    this.endDrySpell();
    this.availableBytes -= sizeBytes;
    return memory;
  }

  /** @param {Memory | null} memory */
  release(memory) {
    if (!memory || !this.granted.delete(memory)) throw new Invalid("no buffer that is out");
    this.endDrySpell();
    this.availableBytes += memory.bytes.length;
  }

  endDrySpell() {
    if (this.drySinceMs !== null) {
      this.depletedSpells += 1;
      this.depletedMs += this.nowMs - this.drySinceMs;
      this.drySinceMs = null;
    }
  }
}
