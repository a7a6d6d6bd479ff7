// SPDX-License-Identifier: CC0-1.0
// Timers of npm's packages behind the adapter protocol: node adapter.js PACKAGE FOLDER
// The folder is where npm has put the packages.
"use strict";
const { readFileSync } = require("node:fs");
const { join, resolve } = require("node:path");
const { createInterface } = require("node:readline");
const timers = require("./timers.js");

const [named, folder] = process.argv.slice(2);
const modules = join(resolve(folder), "node_modules");
const subject = timers.subject(named, modules);
const about = JSON.parse(readFileSync(join(modules, named, "package.json"), "utf8"));

let timer = null;
let events = [];

function answer(request) {
  switch (request.request) {
    case "hello": {
      const runtime = `node ${process.versions.node}`;
      const { version } = about;
      const implementation = {
        name: `npm ${named}`, version, language: "JavaScript", runtime,
        source: subject.source, issues: `${subject.source}/issues`,
      };
      return { protocol: 1, implementation, components: { timer: subject.profile } };
    }
    case "new":
      if (request.component !== "timer") return { unsupported: "there is only a timer" };
      if (timer) timer.close();
      timer = null;
      timer = subject.make(whole(request.configuration.start_ms ?? 0), ran);
      return {};
    case "do": return outcome(request.operation);
    case "end": return {};
    default: return { unsupported: `${request.request} is no request of protocol 1` };
  }
}

function ran(task) { events.push({ kind: "ran", task }); }

function outcome(operation) {
  events = [];
  const { op, task } = operation;
  switch (op) {
    case "add": timer.add(task, whole(operation.delay_ms), operation.script ?? []); break;
    case "cancel": timer.cancel(task); break;
    case "advance": timer.advance(whole(operation.to_ms)); break;
    default: return { unsupported: `${op} is not offered` };
  }
  return { events, observed: timer.observed() };
}

function whole(value) {
  if (Number.isSafeInteger(value)) return value;
  throw new RangeError(`${value} is no whole number`);
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
