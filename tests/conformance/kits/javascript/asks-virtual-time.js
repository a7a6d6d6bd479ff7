// Asks virtual time what a program could ask of it; each line printed is one answer.
import { setInterval as every } from "node:timers";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { beginAt, moveTo } from "./virtual-time.js";

const tell = (...words) => console.log(...words);
const thrown = (error) => tell("thrown", error.message);
beginAt(1000);
tell("date", new Date().getTime(), new Date(5).getTime(), typeof Date(), Date.now());
const counted = [];
const interval = every(() => {
  counted.push(Date.now() - 1000);
  if (counted.length === 3) clearInterval(interval);
}, 5);
await moveTo(1100, thrown);
tell("interval", ...counted, performance.now());
setTimeout(() => setTimeout(() => tell("inner", Date.now() - 1100), 5), 10);
const moved = setTimeout((word) => tell(word, Date.now() - 1100), 3, "moved");
await moveTo(1102, thrown);
moved.refresh();
clearTimeout(+setTimeout(() => tell("cleared"), 1));
setTimeout(() => tell("beyond", Date.now() - 1100), 2 ** 31);
setTimeout(() => tell("negative", Date.now() - 1100), -7);
setTimeout(() => { throw new Error("of a callback"); }, 20);
(async () => {
  await promisify(setTimeout)(2);
  await sleep(2);
  tell("awaited", Date.now() - 1100);
})();
sleep(50, 0, { signal: AbortSignal.abort() }).catch(() => tell("aborted"));
await moveTo(1200, thrown);
setTimeout(() => tell("of the former clock"), 1);
beginAt(0);
await moveTo(10, thrown);
tell("end", Date.now());
