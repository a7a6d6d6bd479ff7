// SPDX-License-Identifier: CC0-1.0
// The messages of the runner, as types. What they mean is written in the adapter protocol.

export interface Configuration {
  tick_ms?: number; // 1 when absent
  wheel_size?: number; // 20
  start_ms?: number; // 0
  purge_interval?: number; // 1000
  time_outs?: boolean; // true
  size_bytes?: number; // 100
  max_single_bytes?: number; // 40
  strict?: boolean; // false
  unbounded?: boolean; // false
}

/** The fields that steps and actions have; which ones are there depends on the operation. */
export interface Fields {
  task?: string;
  operation?: string;
  key?: string;
  keys?: string[];
  delay_ms?: number;
  for_ms?: number; // of a step "wait", on the real clock
  to_ms?: number; // absent in an action "advance": the clock keeps its reading
}

/** A step. The script of an "add" is a list of actions, that of a "watch" has callbacks. */
export interface Operation extends Fields {
  op: string;
  script?: Action[] | Script;
  refuse?: boolean;
  buffer?: string;
  form?: "itself" | "slice" | "copy";
  size_bytes?: number;
  max_single_bytes?: number;
  fail?: boolean;
  value?: number;
}

/** What a script does: a call, or "throw". */
export interface Action extends Fields {
  do: string;
  sort?: "severe";
}

export interface Script {
  tries?: ("wait" | "complete" | "throw" | "throw_severe")[];
  on_try?: Action[][];
  on_complete?: Action[];
  on_expiration?: Action[];
}

export interface Request {
  request: "hello" | "new" | "do" | "end" | "stop";
  id: number;
  component: string;
  configuration: Configuration;
  operation: Operation;
}

export interface Event {
  kind: "expired" | "ran" | "tried" | "completed" | "timed_out" | "rejected";
  task: string;
  reason?: string;
  at_ms?: number;
}

export type Result = boolean | number | string[] | null | undefined | void;
export type Observed = Record<string, number | boolean | null>;

export interface Outcome {
  result?: Result;
  rejected?: string;
  detail?: string;
  called_ms?: number; // on the real clock, before the call and after it
  returned_ms?: number;
  events?: Event[];
  observed?: Observed;
  unsupported?: string;
}

/** What is not declared is neither asked for nor compared. */
export interface Profile {
  [choice: string]: string | number | string[] | undefined;
  features?: string[];
  observables?: string[];
}

declare global {
  /** Collects garbage; node has it with --expose-gc. */
  var gc: (() => void) | undefined;
}
