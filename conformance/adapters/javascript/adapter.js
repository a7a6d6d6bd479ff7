// SPDX-License-Identifier: CC0-1.0
// The timer of the page to play on, behind the adapter protocol: node adapter.js [DEFECT]
"use strict";
const { createInterface } = require("node:readline");
const { make, DEFECTS, PROFILE } = require("./timer.js");

const defect = process.argv[2] ?? "";
if (defect && !(defect in DEFECTS)) {
  process.stderr.write(`there is no defect ${defect}; there are: ${Object.keys(DEFECTS).join(", ")}\n`);
  process.exit(2);
}

let timer = null;

function answer(request) {
  switch (request.request) {
    case "hello": {
      const named = defect ? `JavaScript wheel, ${defect}` : "JavaScript wheel";
      const runtime = `node ${process.versions.node}`;
      const implementation = { name: named, language: "JavaScript", runtime };
      return { protocol: 1, implementation, components: { timer: PROFILE } };
    }
    case "new":
      if (request.component !== "timer") return { unsupported: "there is only a timer" };
      timer = make(defect, request.configuration);
      return {};
    case "do": return timer.do(request.operation);
    case "end": return {};
    default: return { unsupported: `${request.request} is no request of protocol 1` };
  }
}

function reply(line) {
  let id = 0; // stays 0 where the request cannot be read
  try {
    const request = JSON.parse(line);
    if (Number.isSafeInteger(request.id)) id = request.id;
    if (request.request === "stop") process.exit(0);
    return { id, ...answer(request) };
  } catch (error) {
    return { id, error: String(error) };
  }
}

createInterface({ input: process.stdin }).on("line", (line) => {
  if (line.trim()) process.stdout.write(`${JSON.stringify(reply(line))}\n`);
});
