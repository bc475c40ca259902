/** What a script must not use, as a table: chance, clocks, timers and other processes. */
import crypto from 'node:crypto';
import timers from 'node:timers';

export interface Forbidden {
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

const list = (holder: object, of: string, why: Why, ...keys: string[]): Forbidden[] =>
  keys
    // What is an accessor there leads to one of the others.
    .filter((key) => Object.getOwnPropertyDescriptor(holder, key)?.writable)
    .map((key) => ({ holder: holder as never, key, name: nameOf(of, key), ...why }));

const prototypeOf = (value: object) => Object.getPrototypeOf(value) as object;

export const forbidden: readonly Forbidden[] = [
  ...list(Math, 'Math', chance, 'random'),
  ...list(prototypeOf(globalThis.crypto), 'crypto', chance, 'getRandomValues', 'randomUUID'),
  ...list(
    crypto,
    'crypto',
    chance,
    ...['randomBytes', 'randomFillSync', 'randomInt', 'randomUUID'],
    ...['generateKeyPairSync', 'generateKeySync', 'generatePrimeSync'],
  ),
  ...list(prototypeOf(performance), 'performance', clock, 'now'),
  ...list(process.hrtime, 'process.hrtime', clock, 'bigint'),
  ...list(process, 'process', clock, 'hrtime', 'uptime', 'cpuUsage'),
  ...list(timers, 'timers', timer, 'setTimeout', 'setInterval', 'setImmediate'),
  ...list(globalThis, 'globalThis', timer, 'setTimeout', 'setInterval', 'setImmediate'),
  ...list(globalThis, 'globalThis', later, 'queueMicrotask'),
  ...list(process, 'process', later, 'nextTick'),
  ...list(process, 'process', exit, 'exit', 'reallyExit', 'abort', 'kill'),
  ...list(process, 'process', talk, 'send', 'disconnect'),
];

/** A Date that reads the clock by way of `refuse` only: with a time given, it is any Date. */
export function guardedDate(refuse: (why: Why & { name: string }) => void): DateConstructor {
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
