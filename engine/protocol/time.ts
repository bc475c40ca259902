/** Strict readers of RFC 3339 instants and ISO 8601 durations. They know no clock. */

const instant =
  /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(\.\d{1,9})?(?:[Zz]|([+-])(\d{2}):(\d{2}))$/;

/**
 * Milliseconds since 1970 (truncated), or null. A real calendar date with an offset is asked for:
 * `new Date` would take 30 February, and a bare `1`.
 */
export function parseInstant(text: string): number | null {
  if (text === latest.text) return latest.instant;
  latest = { text, instant: readUsual(text) ?? readInstant(text) };
  return latest.instant;
}

/** A request's time is asked for more than once, and those who sign together share it. */
let latest: { text: string; instant: number | null } = { text: '', instant: null };

/** The minute of an instant that was read, as its text up to the seconds, and when it began. */
let lastMinute = { text: '-', at: 0 };

/** As most are sent: in the same minute as one before, with milliseconds and `Z`. */
function readUsual(text: string): number | null {
  const shaped = text.length === 24 && text[19] === '.' && text[23] === 'Z';
  if (!shaped || !text.startsWith(lastMinute.text)) return null;
  const second = twoDigits(text, 17);
  const ms = 10 * twoDigits(text, 20) + (twoDigits(text, 21) % 10);
  // What is no number is less than nothing.
  return second < 60 && ms >= 0 ? lastMinute.at + 1_000 * second + ms : null;
}

/** The number that two digits make; NaN where they are none. */
function twoDigits(text: string, at: number): number {
  const tens = text.charCodeAt(at) - 0x30;
  const ones = text.charCodeAt(at + 1) - 0x30;
  return tens >= 0 && tens < 10 && ones >= 0 && ones < 10 ? 10 * tens + ones : Number.NaN;
}

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
  if (text.endsWith('Z')) {
    lastMinute = { text: text.slice(0, 17), at: local - (second * 1_000 + fraction) };
  }
  const offset = (offsetHours * 60 + offsetMinutes) * 60_000;
  return found[8] === '-' ? local + offset : local - offset;
}

/**
 * Years, months, weeks, days; then hours, minutes, seconds, of which the last may have a fraction.
 * Only the P must be a capital. What is a duration here is one to Temporal.Duration.from too.
 */
const whole = (unit: string) => `(?:(\\d+)[${unit}])?`;
const cut = (unit: string) => `(?:(\\d+)(?:[.,](\\d{1,9}))?[${unit}])?`;
const days = ['Yy', 'Mm', 'Ww', 'Dd'].map(whole).join('');
const hours = ['Hh', 'Mm', 'Ss'].map(cut).join('');
const duration = new RegExp(`^P(?=.)${days}(?:[Tt](?=\\d)${hours})?$`);

/** Above these, Temporal has no duration. */
const CALENDAR_UNITS = 2n ** 32n;
const SECONDS = 2n ** 53n;
const SECOND_NS = 1_000_000_000n;

interface Parts {
  /** Whether there are years or months, which have no fixed length. */
  varies: boolean;
  weeks: bigint;
  /** Days and what is shorter. */
  nanoseconds: bigint;
}

function partsOf(text: string): Parts | null {
  const found = duration.exec(text);
  if (!found) return null;
  const number = (index: number) => BigInt(found[index] ?? 0);
  const [years, months, weeks] = [number(1), number(2), number(3)];
  let nanoseconds = number(4) * 86_400n * SECOND_NS;
  let ended = false;
  for (const [place, seconds] of [3_600n, 60n, 1n].entries()) {
    const [units, fraction] = [found[5 + 2 * place], found[6 + 2 * place]];
    // A fraction belongs to the last unit only.
    if (units !== undefined && ended) return null;
    ended ||= fraction !== undefined;
    const parts = BigInt((fraction ?? '').padEnd(9, '0'));
    nanoseconds += (BigInt(units ?? 0) * SECOND_NS + parts) * seconds;
  }
  if ([years, months, weeks].some((count) => count >= CALENDAR_UNITS)) return null;
  if (nanoseconds >= SECONDS * SECOND_NS) return null;
  return { varies: years + months > 0n, weeks, nanoseconds };
}

/** Whether the text is an ISO 8601 duration without a sign. */
export function isDuration(text: string): boolean {
  return partsOf(text) !== null;
}

/**
 * Milliseconds (cut) of a duration in weeks, days, hours, minutes and seconds, or null: months and
 * years have no fixed length.
 */
export function durationMs(text: string): number | null {
  const parts = partsOf(text);
  if (!parts || parts.varies) return null;
  return Number(parts.weeks) * 604_800_000 + Number(parts.nanoseconds / 1_000_000n);
}
