/**
 * Keeps scripts to what they are given. While one is called, a use of chance, a clock, a timer or
 * an exit of its own throws, and is told even where the script catches it: such a run could not be
 * made again. Whoever else is in the process finds all of it as it was.
 */
import { realpathSync } from 'node:fs';
import { sep } from 'node:path';
import { ScenarioError } from '../../../scenario/problem.js';
import { type Forbidden, forbidden, guardedDate } from './forbidden.js';
import { watchPromises } from './promises.js';

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
export function called<T>(work: () => T): T {
  return during({ misuse: null, folder: null }, work);
}

/**
 * Loads a script. What its packages do while they are loaded is their business: many look at the
 * clock once, and make nothing of it.
 */
export function loaded<T>(folder: string, work: () => T): T {
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
export function abandon(): void {
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

/** Lines of a stack: of this folder; and those that name a file, and no part of Node. */
const OWN = /[\\/]script[\\/]guard[\\/](forbidden|misuse|promises)\.[jt]s:/;
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
