// SPDX-License-Identifier: CC0-1.0
// The pool behind the protocol: each step becomes a call. Change names until it calls yours.
import { Case, UnknownName, Unsupported } from "./case.js";
import { Invalid, Memory, MemoryPool } from "./naive-memory-pool.js";
/** @typedef {import("./protocol.js").Action} Action */
/** @typedef {import("./protocol.js").Configuration} Configuration */
/** @typedef {import("./protocol.js").Operation} Operation */

/** Stands in for the allocator where it is to fail. @returns {Memory} */
function noMemory() {
  throw new RangeError("no memory");
}

/** A memory pool, and the buffers that it granted. */
export class MemoryPoolCase extends Case {
  static PROFILE = {
    release_validation: "identity",
    features: [
      "strict", "non_strict", "construct", "release_again", "release_slice", "release_copy",
      "release_foreign", "release_nothing", "elapse", "fail", "fill",
    ],
    observables: [
      "available_bytes", "used_bytes", "size_bytes", "out_of_memory", "buffer_bytes",
      "depleted_spells", "depleted_ms",
    ],
  };
  /** @type {[Function, string][]} */
  static REASONS = [
    [Invalid, "invalid_argument"],
    [RangeError, "no_memory"],
  ];

  /** @type {Map<string, Memory>} */
  buffers = new Map();

  /** @type {number | null} */
  bufferBytes = null; // what this step was granted

  /** @param {Configuration} asked */
  constructor(asked) {
    super();
    const { size_bytes = 100, max_single_bytes = 40, strict = false } = asked;
    this.pool = new MemoryPool(size_bytes, max_single_bytes, strict);
  }

  /** @param {string} kind @param {Operation} asked */
  call(kind, asked) {
    this.bufferBytes = null;
    const { size_bytes = 0, max_single_bytes = 0, value = 0 } = asked;
    switch (kind) {
      case "allocate":
        return this.allocate(asked, size_bytes);
      case "release":
        return this.pool.release(this.given(asked));
      case "release_foreign":
        return this.pool.release(new Memory(size_bytes));
      case "release_nothing":
        return this.pool.release(null);
      case "fill":
        this.named(asked).bytes.fill(value);
        return;
      case "read": { // the byte that is everywhere, or -1
        const [first = -1, ...rest] = new Set(this.named(asked).bytes);
        return rest.length ? -1 : first;
      }
      case "construct":
        new MemoryPool(size_bytes, max_single_bytes, false);
        return;
      case "elapse":
        this.pool.nowMs = asked.to_ms ?? 0;
        return;
    }
    throw new Unsupported(kind);
  }

  /** @param {Operation} asked @param {number} sizeBytes */
  allocate(asked, sizeBytes) {
    this.pool.newMemory = asked.fail ? noMemory : (size) => new Memory(size);
    const memory = this.pool.tryAllocate(sizeBytes);
    if (memory) {
      this.buffers.set(asked.buffer ?? "", memory);
      this.bufferBytes = memory.bytes.length;
    }
    return memory !== null;
  }

  /** What is given back: the buffer, another view of its memory, or other memory.
   * @param {Operation} asked */
  given(asked) {
    const memory = this.named(asked);
    if ((asked.form ?? "itself") === "itself") return memory;
    const other = new Memory(memory.bytes.length);
    if (asked.form === "slice") other.bytes = memory.bytes.subarray();
    return other;
  }

  /** @param {Operation} asked */
  named(asked) {
    const memory = this.buffers.get(asked.buffer ?? "");
    if (!memory) throw new UnknownName(asked.buffer);
    return memory;
  }

  observed() {
    const { pool, bufferBytes } = this;
    return {
      available_bytes: pool.availableBytes,
      used_bytes: pool.sizeBytes - pool.availableBytes,
      size_bytes: pool.sizeBytes,
      out_of_memory: pool.availableBytes <= 0,
      buffer_bytes: bufferBytes,
      depleted_spells: pool.depletedSpells,
      depleted_ms: pool.depletedMs,
    };
  }
}
