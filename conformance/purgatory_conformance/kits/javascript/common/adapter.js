// SPDX-License-Identifier: CC0-1.0
// Answers the runner: reads a request, has it carried out, writes the reply.
import { createInterface } from "node:readline";
import { MemoryPoolCase } from "./memory-pool-case.js"; // only: memory_pool
import { PurgatoryCase } from "./purgatory-case.js"; // only: purgatory
import { TimerCase } from "./timer-case.js"; // only: timer
/** @typedef {import("./case.js").Case} Case */
/** @typedef {import("./protocol.js").Configuration} Configuration */
/** @typedef {import("./protocol.js").Profile} Profile */
/** @typedef {import("./protocol.js").Request} Request */
/** @typedef {{ PROFILE: Profile, new (asked: Configuration): Case }} Component */

/** @type {Record<string, Component>} */
const COMPONENTS = {
  timer: TimerCase, // only: timer
  purgatory: PurgatoryCase, // only: purgatory
  memory_pool: MemoryPoolCase, // only: memory_pool
};

const HELLO = {
  protocol: 1,
  implementation: { name: "naive implementation", version: "1", language: "JavaScript" },
  components: Object.fromEntries(
    Object.entries(COMPONENTS).map(([name, { PROFILE }]) => [name, PROFILE]),
  ),
};

/** @type {Case | null} */
let current = null;

function drop() {
  current?.end();
  current = null;
}

/** @param {Request} asked @returns {Promise<object>} */
async function answer(asked) {
  switch (asked.request) {
    case "hello":
      return HELLO;
    case "new": // it also replaces an instance that was never ended
      drop();
      current = new COMPONENTS[asked.component](asked.configuration);
      return {};
    case "end":
      drop();
      return {};
    case "do":
      if (current) return current.carryOut(asked.operation);
  }
  return { unsupported: `there is no request ${asked.request} here` };
}

console.log = console.error; // a stray print is no reply
for await (const line of createInterface({ input: process.stdin })) { // until "stop" or its end
  if (!line.trim()) continue;
  let id = 0; // stays 0 where the request cannot be read
  let reply;
  try {
    /** @type {Request} */
    const asked = JSON.parse(line);
    if (Number.isSafeInteger(asked.id)) id = asked.id;
    if (asked.request === "stop") break;
    reply = await answer(asked);
  } catch (error) { // the adapter itself failed; the runner will say so
    reply = { error: String(error) };
  }
  process.stdout.write(`${JSON.stringify({ id, ...reply })}\n`);
}
drop();
process.stdin.destroy(); // after "stop" nothing is read, and the process ends
