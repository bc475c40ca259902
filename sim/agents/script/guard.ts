/**
 * Restricts scripts to deterministic inputs. A script that draws random numbers, reads a clock,
 * sets a timer or exits during a call gets an error, because such a run could not be reproduced.
 * The error is reported even if the script catches it. Code outside scripts is not affected. A
 * script that creates a promise, or exceeds its time limit, ends the run.
 */
import crypto from 'node:crypto';
import { realpathSync } from 'node:fs';
import { sep } from 'node:path';
import timers from 'node:timers';
import { promiseHooks } from 'node:v8';
import { Script } from 'node:vm';
import { scenarioError } from '../../scenario/problem.js';

/** Current call and its first violation. */
interface Call {
  misuse: Error | null;
  /** Folder of the module that is being loaded. Null during a function call. */
  folder: string | null;
}

let call: Call | null = null;
/** Folders of loaded scripts. */
const folders = new Set<string>();

/** Calls a script function. @throws the function's error, or an error that names its violation. */
export function callGuarded<T>(work: () => T): T {
  return during({ misuse: null, folder: null }, work);
}

/** Loads a script. Packages are unrestricted while they load: many read the clock harmlessly. */
export function loadGuarded<T>(folder: string, work: () => T): T {
  const inside = realpathSync(folder) + sep;
  folders.add(inside);
  return during({ misuse: null, folder: inside }, work);
}

function during<T>(one: Call, work: () => T): T {
  const outer = call;
  call = one;
  try {
    const given = work();
    if (one.misuse) throw one.misuse;
    return given;
  } catch (error) {
    throw one.misuse ?? error;
  } finally {
    call = outer;
  }
}

function refuse({ name, what, advice, always }: Omit<Forbidden, 'holder' | 'key'>): void {
  if (!call && !always) return;
  const misuse = new Error(`${what}: ${name}; ${advice}`);
  if (isByScript(misuse)) throw misuse;
  if (call) return;
  // The caller may be code that a script left behind, such as a callback.
  const folder = [...folders].find((one) => isIn(one, misuse));
  if (folder === undefined) return;
  throw scenarioError('SCRIPT_FORBIDDEN', { folder, detail: misuse.message });
}

/** Returns true if the script in the current call caused an error, and notes the first error. */
function isByScript(misuse: Error): boolean {
  if (!call || (call.folder !== null && !isIn(call.folder, misuse))) return false;
  call.misuse ??= misuse;
  return true;
}

/** Returns true if a script created the promise. Scripts must be synchronous. */
const promised = (): boolean =>
  call !== null && isByScript(new Error('promise created; scripts must be synchronous'));

/** Returns true if an error was created by a script in the folder rather than by its packages. */
function isIn(folder: string, { stack = '' }: Error): boolean {
  const line = stack.split('\n').find((one) => FRAME.test(one) && !OWN.test(one)) ?? '';
  const at = line.indexOf(folder);
  return at >= 0 && !line.slice(at + folder.length).includes(`node_modules${sep}`);
}

/** Matches stack lines from this file. `FRAME` matches stack lines outside Node's code. */
const OWN = /[\\/]script[\\/]guard\.[jt]s:/;
const FRAME = /^ +at (?!.*\bnode:)(?=.*[\\/]).*:\d+/;

interface Replaced {
  holder: Record<string, unknown>;
  key: string;
  before: PropertyDescriptor;
  now: unknown;
}

let replaced: Replaced[] = [];
let holders = 0;
let unwatch = (): void => {};

/** Installs the guard. Returns a function that removes the guard when no user is left. */
export function guardGlobals(): () => void {
  if (holders === 0) {
    const date = replace(globalThis as never, 'Date', guardedDate());
    replaced = [...forbidden.map(standIn), date];
    folders.clear();
    unwatch = watchPromises();
  }
  holders += 1;
  let held = true;
  return () => {
    if (!held) return;
    held = false;
    holders -= 1;
    if (holders > 0) return;
    for (const one of replaced.splice(0)) restore(one);
    // Pending callbacks run first and may never end.
    setImmediate(unwatch);
  };
}

function standIn(one: Forbidden): Replaced {
  const { holder, key } = one;
  const original = holder[key] as (...given: unknown[]) => unknown;
  const guarded = function (this: unknown, ...given: unknown[]): unknown {
    refuse(one);
    return Reflect.apply(original, this, given);
  };
  // Some functions have members, such as process.hrtime.bigint.
  Object.defineProperties(guarded, Object.getOwnPropertyDescriptors(original));
  return replace(holder, key, guarded);
}

function replace(holder: Record<string, unknown>, key: string, now: unknown): Replaced {
  const before = Object.getOwnPropertyDescriptor(holder, key)!;
  Object.defineProperty(holder, key, { ...before, value: now });
  return { holder, key, before, now };
}

/** Restores the original. Replacements that other code has made since are not overwritten. */
function restore({ holder, key, before, now }: Replaced): void {
  if (holder[key] === now) Object.defineProperty(holder, key, before);
}

interface Forbidden {
  holder: Record<string, unknown>;
  key: string;
  /** Name in error messages. */
  name: string;
  /** Description of the violation in error messages. */
  what: string;
  advice: string;
  /** Also enforced outside calls, because otherwise the process would end without an error. */
  always?: true;
}

type Why = Pick<Forbidden, 'what' | 'advice' | 'always'>;

const chance: Why = { what: 'random number without rng', advice: 'use rng, the second argument' };
const clock: Why = { what: 'clock read', advice: 'use view.nowMs' };
const timer: Why = { what: 'timer set', advice: "use { do: 'wake' }, which runs in virtual time" };
const later: Why = { what: 'deferred call', advice: 'scripts must be synchronous' };
const exit: Why = {
  what: 'process exit',
  advice: 'scripts must not end the process',
  always: true,
};
const talk: Why = { what: 'message to another process', advice: 'scripts must not send any' };

const nameOf = (of: string, key: string) => `${of}.${key}`;

const forbiddenIn = (holder: object, of: string, why: Why, ...keys: string[]): Forbidden[] =>
  keys
    // Skip accessors, because they delegate to the functions that are replaced.
    .filter((key) => Object.getOwnPropertyDescriptor(holder, key)?.writable)
    .map((key) => ({ holder: holder as never, key, name: nameOf(of, key), ...why }));

const prototypeOf = (value: object) => Object.getPrototypeOf(value) as object;

export const forbidden: readonly Forbidden[] = [
  ...forbiddenIn(Math, 'Math', chance, 'random'),
  ...forbiddenIn(prototypeOf(globalThis.crypto), 'crypto', chance, 'getRandomValues', 'randomUUID'),
  ...forbiddenIn(
    crypto,
    'crypto',
    chance,
    ...['randomBytes', 'randomFillSync', 'randomInt', 'randomUUID'],
    ...['generateKeyPairSync', 'generateKeySync', 'generatePrimeSync'],
  ),
  ...forbiddenIn(prototypeOf(performance), 'performance', clock, 'now'),
  ...forbiddenIn(process.hrtime, 'process.hrtime', clock, 'bigint'),
  ...forbiddenIn(process, 'process', clock, 'hrtime', 'uptime', 'cpuUsage'),
  ...forbiddenIn(timers, 'timers', timer, 'setTimeout', 'setInterval', 'setImmediate'),
  ...forbiddenIn(globalThis, 'globalThis', timer, 'setTimeout', 'setInterval', 'setImmediate'),
  ...forbiddenIn(globalThis, 'globalThis', later, 'queueMicrotask'),
  ...forbiddenIn(process, 'process', later, 'nextTick'),
  ...forbiddenIn(process, 'process', exit, 'exit', 'reallyExit', 'abort', 'kill'),
  ...forbiddenIn(process, 'process', talk, 'send', 'disconnect'),
];

/** Creates a Date that is restricted only in reading the clock. */
function guardedDate(): DateConstructor {
  const Original = globalThis.Date;
  const guarded = function (this: unknown, ...given: unknown[]): unknown {
    if (!new.target) {
      refuse({ name: 'Date()', ...clock });
      return Original();
    }
    if (given.length === 0) refuse({ name: 'new Date()', ...clock });
    return Reflect.construct(Original, given, new.target);
  };
  const members = Object.getOwnPropertyDescriptors(Original);
  const now = (): number => {
    refuse({ name: nameOf('Date', 'now'), ...clock });
    return Original.now();
  };
  Object.defineProperties(guarded, { ...members, now: { ...members.now, value: now } });
  return guarded as unknown as DateConstructor;
}

/*
 * Callbacks of promises run after the call, when time limits and restrictions no longer apply.
 * Scripts must therefore create no promises.
 */

/** Number of steps beyond which a chain of promises counts as endless. It blocks the event loop. */
const MOST_STEPS = 1_000_000;

/**
 * Watches all promises in the process until the returned function is called. Throws if a script's
 * promises are endless, and kills the process if they continue.
 */
function watchPromises(): () => void {
  const strays = new WeakSet<Promise<unknown>>();
  let [steps, goesOn, own] = [0, false, false];
  return promiseHooks.createHook({
    init(promise) {
      if (own || !(goesOn || promised())) return;
      strays.add(promise);
      own = true;
      promise.then(undefined, () => {});
      own = false;
    },
    before(promise) {
      goesOn = strays.has(promise);
      if (!goesOn) return;
      steps += 1;
      if (steps % MOST_STEPS > 0) return;
      if (steps > MOST_STEPS) process.kill(process.pid, 'SIGKILL');
      throw scenarioError('SCRIPT_ENDLESS', { folders: [...folders].join(', ') });
    },
    after() {
      goesOn = false;
    },
  }) as () => void;
}

/*
 * V8's watchdog, used through node:vm, terminates calls that run too long, including endless loops.
 * A watchdog costs about 50 microseconds, so frequent calls share one per time slice.
 */

/** A call was terminated at its time limit. Its state is unknown. */
export class TookTooLong extends Error {
  override name = 'TookTooLong';
}

/** Global slot through which the watchdog's program finds its work. */
const workSlot = Symbol.for('folkmoot.script.work');
const workHolder = globalThis as unknown as Record<symbol, (() => void) | undefined>;
const runWork = new Script('globalThis[Symbol.for("folkmoot.script.work")]()');

/** Runs synchronous work. @throws {TookTooLong} at the limit. @throws the work's own error. */
export function runWithin(milliseconds: number, work: () => void): void {
  const outer = workHolder[workSlot];
  workHolder[workSlot] = work;
  try {
    runWork.runInThisContext({ timeout: milliseconds, displayErrors: false });
  } catch (cause) {
    const { code } = (cause ?? {}) as { code?: unknown };
    if (code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw cause;
    // None of the `finally` blocks of the terminated call ran.
    call = null;
    throw new TookTooLong(`stopped after ${milliseconds / 1000} s`, { cause });
  } finally {
    if (outer) workHolder[workSlot] = outer;
    else delete workHolder[workSlot];
  }
}

/** Length of a time slice. A new watchdog per slice keeps the limit per call. */
const SLICE_MS = 1_000;

/** Runs steps until one returns false. The time limit applies to each step. */
export function stepWithin(milliseconds: number, next: () => boolean): void {
  let more = true;
  while (more) {
    runWithin(milliseconds + SLICE_MS, () => {
      const until = performance.now() + SLICE_MS;
      do more = next();
      while (more && performance.now() < until);
    });
  }
}
