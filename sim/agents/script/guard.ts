/**
 * Keeps scripts to what they are given. While one is called, a use of chance, a clock, a timer or
 * an exit of its own throws, and is reported even where the script catches it: such a run could not
 * be made again. Other code in the process finds all of these as they were. A promise, or a call
 * that takes too long, ends the run.
 */

import crypto from 'node:crypto';
import { realpathSync } from 'node:fs';
import { sep } from 'node:path';
import timers from 'node:timers';
import { promiseHooks } from 'node:v8';
import { Script } from 'node:vm';
import { ScenarioError } from '../../scenario/problem.js';

/** The call that is under way, with the first thing that it did and must not. */
interface Call {
  misuse: Error | null;
  /** Its modules are being loaded from this folder; null for a call of a function. */
  folder: string | null;
}

let call: Call | null = null;
/** Where scripts lie that were loaded. */
const folders = new Set<string>();

/**
 * Calls a function of a script.
 * @throws what it throws, or the error that names what it used and must not.
 */
export function callGuarded<T>(work: () => T): T {
  return during({ misuse: null, folder: null }, work);
}

/**
 * Loads a script. What its packages do while they are loaded is their business: many look at the
 * clock once, and make nothing of it.
 */
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

/** To be called when a call was ended from outside: nothing in it was, not even what is final. */
function abandon(): void {
  call = null;
}

function refuse({ name, what, advice, always }: Refused): void {
  if (!call && !always) return;
  const text = `it ${what} by ${name}: ${advice}`;
  const misuse = new Error(text);
  if (!call) {
    // What a script left behind, and is called later.
    const from = [...folders].find((folder) => isIn(folder, misuse));
    if (from !== undefined) throw new ScenarioError(`a script in ${from}: ${text}`);
    return;
  }
  if (call.folder !== null && !isIn(call.folder, misuse)) return;
  call.misuse ??= misuse;
  throw misuse;
}

type Refused = Omit<Forbidden, 'holder' | 'key'>;

/** Whether a promise that is being made is a script's, which answers at once and leaves nothing. */
function promised(): boolean {
  if (!call) return false;
  const misuse = new Error('it made a promise; expected an answer at once');
  if (call.folder !== null && !isIn(call.folder, misuse)) return false;
  call.misuse ??= misuse;
  return true;
}

/** Nothing else in the process gets a turn: whoever hears of it must end now, or is ended. */
function endless(again: boolean): void {
  if (again) process.kill(process.pid, 'SIGKILL');
  const where = [...folders].join(', ');
  throw new ScenarioError(`a script in ${where}: what its promises do never ends`);
}

/** Whether an error was made for a script in a folder, and for none of its packages. */
function isIn(folder: string, { stack = '' }: Error): boolean {
  const line = stack.split('\n').find((one) => FRAME.test(one) && !OWN.test(one)) ?? '';
  const at = line.indexOf(folder);
  return at >= 0 && !line.slice(at + folder.length).includes(`node_modules${sep}`);
}

/** Lines of a stack: of this file; and those that name a file, and no part of Node. */
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

/** Puts the guard in place, if it is not; what it gives takes it away again, with the last one. */
export function guardGlobals(): () => void {
  if (holders === 0) {
    replaced = [...forbidden.map(standIn), ...dates()];
    folders.clear();
    unwatch = watchPromises(promised, endless);
  }
  holders += 1;
  let held = true;
  return () => {
    if (!held) return;
    held = false;
    holders -= 1;
    if (holders > 0) return;
    for (const one of replaced.splice(0)) restore(one);
    // What was left behind comes first, and may never end.
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
  // Some have members, such as process.hrtime.bigint.
  Object.defineProperties(guarded, Object.getOwnPropertyDescriptors(original));
  return replace(holder, key, guarded);
}

function dates(): Replaced[] {
  return [replace(globalThis as never, 'Date', guardedDate(refuse))];
}

function replace(holder: Record<string, unknown>, key: string, now: unknown): Replaced {
  const before = Object.getOwnPropertyDescriptor(holder, key)!;
  Object.defineProperty(holder, key, { ...before, value: now });
  return { holder, key, before, now };
}

/** Unless somebody else has put something of his own there since. */
function restore({ holder, key, before, now }: Replaced): void {
  if (holder[key] === now) Object.defineProperty(holder, key, before);
}

interface Forbidden {
  /** What the function is a member of, and under which name. */
  holder: Record<string, unknown>;
  key: string;
  /** As a user writes it. */
  name: string;
  /** What the script did, and what to do instead. */
  what: string;
  advice: string;
  /** Also after the call: there would be no run that could tell of it. */
  always?: true;
}

type Why = Pick<Forbidden, 'what' | 'advice' | 'always'>;

const chance: Why = { what: 'drew its own chance', advice: 'use rng, the second argument' };
const clock: Why = { what: 'read a clock', advice: 'use view.nowMs' };
const timer: Why = {
  what: 'set a timer',
  advice: "it is not of the world's time; use { do: 'wake' }",
};
const later: Why = { what: 'left something for later', advice: 'expected an answer at once' };
const exit: Why = { what: 'ended the process', advice: 'a script may not', always: true };
const talk: Why = { what: 'spoke to another process', advice: 'a script may not' };

const nameOf = (of: string, key: string) => `${of}.${key}`;

const forbiddenIn = (holder: object, of: string, why: Why, ...keys: string[]): Forbidden[] =>
  keys
    // What is an accessor there leads to one of the others.
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

/** A Date that reads the clock by way of `refuse` only: with a time given, it is any Date. */
function guardedDate(refuse: (why: Why & { name: string }) => void): DateConstructor {
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
 * A promise of a script goes on after the call that made it, when nothing is timed or refused any
 * more, so a script may make none.
 */

/** What goes on so often goes on for ever. */
const MOST_STEPS = 1_000_000;

/**
 * Looks at each promise of the process, until what it gives is called.
 * @param made whether a promise that is being made is a script's.
 * @param endless told when those of scripts go on for ever, and nothing else gets a turn; again
 * when they still do.
 */
function watchPromises(made: () => boolean, endless: (again: boolean) => void): () => void {
  const strays = new WeakSet<Promise<unknown>>();
  let [steps, goesOn, own] = [0, false, false];
  return promiseHooks.createHook({
    init(promise) {
      if (own || !(goesOn || made())) return;
      strays.add(promise);
      own = true;
      promise.then(undefined, () => {});
      own = false;
    },
    before(promise) {
      goesOn = strays.has(promise);
      if (!goesOn) return;
      steps += 1;
      if (steps % MOST_STEPS === 0) endless(steps > MOST_STEPS);
    },
    after() {
      goesOn = false;
    },
  }) as () => void;
}

/*
 * V8's own watchdog, by node:vm, ends a call that runs for too long, an endless loop too. It costs
 * some 50 microseconds each time, so frequent calls share one, a slice at a time.
 */

/** What was begun has not come back in time. What it had got to is unknown. */
export class TookTooLong extends Error {
  override name = 'TookTooLong';
}

/** Where the program of the watchdog finds what it is to run. */
const workSlot = Symbol.for('folkmoot.script.work');
const workHolder = globalThis as unknown as Record<symbol, (() => void) | undefined>;
const runWork = new Script('globalThis[Symbol.for("folkmoot.script.work")]()');

/**
 * Runs something that does not wait, for so many milliseconds at most.
 * @throws {TookTooLong} when it was ended. @throws what it throws itself.
 */
export function runWithin(milliseconds: number, work: () => void): void {
  const outer = workHolder[workSlot];
  workHolder[workSlot] = work;
  try {
    runWork.runInThisContext({ timeout: milliseconds, displayErrors: false });
  } catch (cause) {
    const { code } = (cause ?? {}) as { code?: unknown };
    if (code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw cause;
    abandon();
    throw new TookTooLong(`it took more than ${milliseconds / 1000} s and was ended`, { cause });
  } finally {
    if (outer) workHolder[workSlot] = outer;
    else delete workHolder[workSlot];
  }
}

/** A slice lasts so long: then the watchdog begins anew, so that it times single calls. */
const SLICE_MS = 1_000;

/** Takes step after step, each of which says whether there are more; none may take so long. */
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
