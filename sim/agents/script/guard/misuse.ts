/**
 * Keeps scripts to what they are given. While one is called, a use of chance, a clock, a timer or
 * an exit of its own throws, and is told even where the script catches it: such a run could not be
 * made again. Whoever else is in the process finds all of it as it was.
 */
import { realpathSync } from 'node:fs';
import { sep } from 'node:path';
import { type Forbidden, forbidden, guardedDate } from './forbidden.js';

/** The call that is under way, with the first thing that it did and must not. */
interface Call {
  misuse: Error | null;
  /** Its modules are being loaded from this folder; null for a call of a function. */
  folder: string | null;
}

let call: Call | null = null;

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
  return during({ misuse: null, folder: realpathSync(folder) + sep }, work);
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

/** Lines of a stack before the caller's: the error itself, this function, and what stands in. */
const LINES_BEFORE = 3;

function refuse({ name, what, advice }: Omit<Forbidden, 'holder' | 'key'>): void {
  if (!call) return;
  const misuse = new Error(`it ${what} by ${name}: ${advice}`);
  if (call.folder !== null && !isIn(call.folder, misuse.stack?.split('\n')[LINES_BEFORE])) return;
  call.misuse ??= misuse;
  throw misuse;
}

/** Whether a line of a stack is of a script, and of none of its packages. */
function isIn(folder: string, line = ''): boolean {
  const at = line.indexOf(folder);
  return at >= 0 && !line.slice(at + folder.length).includes(`node_modules${sep}`);
}

interface Replaced {
  holder: Record<string, unknown>;
  key: string;
  before: PropertyDescriptor;
  now: unknown;
}

let replaced: Replaced[] = [];
let holders = 0;

/** Puts the guard in place, if it is not; what it gives takes it away again, with the last one. */
export function guardGlobals(): () => void {
  if (holders === 0) replaced = [...forbidden.map(standIn), ...dates()];
  holders += 1;
  let held = true;
  return () => {
    if (!held) return;
    held = false;
    holders -= 1;
    if (holders === 0) for (const one of replaced.splice(0)) restore(one);
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
