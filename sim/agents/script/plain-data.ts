/** Plain data: what JSON can say, frozen so that nobody can change what others see too. */
import { canonical } from '../../../engine/internal.js';
import type { Said } from '../port/world.js';

/** Freezes a value that holds plain data, and all that is in it. */
export function deepFrozen<T>(value: T): T {
  const kept = typeof value !== 'object' || value === null || Object.isFrozen(value);
  // A view of bytes cannot be frozen.
  if (kept || ArrayBuffer.isView(value)) return value;
  Object.freeze(value);
  for (const inner of Object.values(value)) deepFrozen(inner);
  return value;
}

/** A message is a remark, an opinion, a price: what is longer is something else. */
export const LONGEST_MESSAGE_BYTES = 1_024;

/** @throws {TypeError} when it is no plain data, or too long. */
export function saidOf(content: unknown): Said {
  const strange = strangeIn(content);
  if (strange !== null) {
    throw new TypeError(`its message holds ${strange}; expected what JSON can say`);
  }
  const text = canonical(content);
  const bytes = Buffer.byteLength(text);
  if (bytes > LONGEST_MESSAGE_BYTES) {
    const limit = `expected at most ${LONGEST_MESSAGE_BYTES} as canonical JSON`;
    throw new TypeError(`its message has ${bytes} bytes; ${limit}`);
  }
  return { content: deepFrozen(JSON.parse(text) as unknown), bytes };
}

/** Nothing that fits into a message is deeper. */
const DEEPEST = LONGEST_MESSAGE_BYTES / 2;

/** The first thing in it that JSON would drop, change or cannot hold; null where there is none. */
function strangeIn(value: unknown, depth = 0): string | null {
  if (depth > DEEPEST) return 'itself, or too many lists in each other';
  if (typeof value === 'number') return Number.isFinite(value) ? null : String(value);
  if (typeof value === 'string') return value.isWellFormed() ? null : 'half of a character';
  if (typeof value === 'boolean' || value === null) return null;
  if (typeof value !== 'object') return typeof value;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null && !Array.isArray(value)) {
    return `a ${value.constructor?.name ?? 'thing'}`;
  }
  for (const inner of Object.values(value)) {
    const strange = strangeIn(inner, depth + 1);
    if (strange !== null) return strange;
  }
  return null;
}
