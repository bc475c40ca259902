/** Strict readers of RFC 3339 instants and ISO 8601 durations. They know no clock. */
import { Temporal } from 'temporal-polyfill';

const instant =
  /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(\.\d{1,9})?(?:[Zz]|([+-])(\d{2}):(\d{2}))$/;

/**
 * Milliseconds since 1970 (truncated), or null. A real calendar date with an offset is asked for:
 * `new Date` would take 30 February, and a bare `1`.
 */
export function parseInstant(text: string): number | null {
  if (text === latest.text) return latest.instant;
  latest = { text, instant: readInstant(text) };
  return latest.instant;
}

/** A request's time is asked for more than once, and those who sign together share it. */
let latest: { text: string; instant: number | null } = { text: '', instant: null };

function readInstant(text: string): number | null {
  const found = instant.exec(text);
  if (!found) return null;
  const part = (index: number) => Number(found[index]);
  const [month, day, hour, minute, second] = [part(2), part(3), part(4), part(5), part(6)];
  const date = new Date(0);
  date.setUTCFullYear(part(1), month - 1, day);
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return null;
  const offsetHours = Number(found[9] ?? 0);
  const offsetMinutes = Number(found[10] ?? 0);
  if (hour > 23 || minute > 59 || second > 59) return null;
  if (offsetHours > 23 || offsetMinutes > 59) return null;
  const fraction = Number((found[7] ?? '.0').slice(1).padEnd(3, '0').slice(0, 3));
  const local = date.getTime() + ((hour * 60 + minute) * 60 + second) * 1000 + fraction;
  const offset = (offsetHours * 60 + offsetMinutes) * 60_000;
  return found[8] === '-' ? local + offset : local - offset;
}

/** Whether the text is an ISO 8601 duration without a sign. */
export function isDuration(text: string): boolean {
  if (!text.startsWith('P')) return false;
  try {
    Temporal.Duration.from(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * Milliseconds (truncated) of a duration in weeks, days, hours, minutes and seconds, or null:
 * months and years have no fixed length.
 */
export function durationMs(text: string): number | null {
  if (!isDuration(text)) return null;
  const duration = Temporal.Duration.from(text);
  if (duration.years !== 0 || duration.months !== 0) return null;
  const days = duration.weeks * 7 + duration.days;
  return Math.trunc(duration.with({ weeks: 0, days: 0 }).total('milliseconds')) + days * 86_400_000;
}
