/** Strict parsers for RFC 3339 timestamps and ISO 8601 durations. */

const instant =
  /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(\.\d{1,9})?(?:[Zz]|([+-])(\d{2}):(\d{2}))$/;

/**
 * Parses a timestamp to milliseconds since 1970 (truncated). Returns null for an invalid timestamp.
 * Requires an offset and a real calendar date, whereas `new Date` accepts 30 February and `1`.
 */
export function parseInstant(text: string): number | null {
  if (text === latest.text) return latest.instant;
  latest = { text, instant: readUsual(text) ?? readInstant(text) };
  return latest.instant;
}

/** Cache of the last timestamp: a request's time is parsed repeatedly, and requests share it. */
let latest: { text: string; instant: number | null } = { text: '', instant: null };

/** Cache of the last minute: its text up to the seconds, and its start. */
let lastMinute = { text: '-', at: 0 };

/** Fast path: a timestamp in the cached minute, with milliseconds and `Z`. */
function readUsual(text: string): number | null {
  const shaped = text.length === 24 && text[19] === '.' && text[23] === 'Z';
  if (!shaped || !text.startsWith(lastMinute.text)) return null;
  const second = twoDigits(text, 17);
  const ms = 10 * twoDigits(text, 20) + (twoDigits(text, 21) % 10);
  // Comparisons with NaN are false.
  return second < 60 && ms >= 0 ? lastMinute.at + 1_000 * second + ms : null;
}

/** Parses two digits. Returns NaN for other characters. */
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
 * Years, months, weeks, days; then hours, minutes, seconds. The last time unit may include a
 * fraction. Only P must be upper case. Temporal.Duration.from accepts the same texts.
 */
const whole = (unit: string) => `(?:(\\d+)[${unit}])?`;
const cut = (unit: string) => `(?:(\\d+)(?:[.,](\\d{1,9}))?[${unit}])?`;
const days = ['Yy', 'Mm', 'Ww', 'Dd'].map(whole).join('');
const hours = ['Hh', 'Mm', 'Ss'].map(cut).join('');
const duration = new RegExp(`^P(?=.)${days}(?:[Tt](?=\\d)${hours})?$`);

/** Limits from Temporal.Duration. */
const CALENDAR_UNITS = 2n ** 32n;
const SECONDS = 2n ** 53n;
const SECOND_NS = 1_000_000_000n;

interface Parts {
  /** True if the duration contains years or months, which have no fixed length. */
  varies: boolean;
  weeks: bigint;
  /** Sum of days and shorter units. */
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
    // Only the last unit may include a fraction.
    if (units !== undefined && ended) return null;
    ended ||= fraction !== undefined;
    const parts = BigInt((fraction ?? '').padEnd(9, '0'));
    nanoseconds += (BigInt(units ?? 0) * SECOND_NS + parts) * seconds;
  }
  if ([years, months, weeks].some((count) => count >= CALENDAR_UNITS)) return null;
  if (nanoseconds >= SECONDS * SECOND_NS) return null;
  return { varies: years + months > 0n, weeks, nanoseconds };
}

/** Returns true for an ISO 8601 duration without a sign. */
export function isDuration(text: string): boolean {
  return partsOf(text) !== null;
}

/**
 * Converts a duration to milliseconds (truncated). Returns null for durations with years or months,
 * which have no fixed length.
 */
export function durationMs(text: string): number | null {
  const parts = partsOf(text);
  if (!parts || parts.varies) return null;
  return Number(parts.weeks) * 604_800_000 + Number(parts.nanoseconds / 1_000_000n);
}
