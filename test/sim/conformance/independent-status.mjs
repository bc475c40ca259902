/** Accepted registrations, and the complete outcome of status updates: form, signature and rule. */

const TARGET = /^\/api\/v1\/agents\/([^/?]+)\/status(?:\?|$)/;
const STAMP =
  /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(\.\d{1,9})?(?:[Zz]|[+-](\d\d):(\d\d))$/;
const unit = (letter) => `(\\d+([.,]\\d{1,9}(?=[${letter}]$))?[${letter}])?`;
const DURATION = new RegExp(
  `^P(?!$)(\\d+[Yy])?(\\d+[Mm])?(\\d+[Ww])?(\\d+[Dd])?` +
    `([Tt](?=\\d)${unit('Hh')}${unit('Mm')}${unit('Ss')})?$`,
);

const refused = (reason) => ({ result: 'refused', reason });

class Bad extends Error {}

function strict(value, depth) {
  const well = (text) => text.isWellFormed();
  if (typeof value === 'string' && !well(value)) throw new Bad();
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new Bad();
    if (Number.isInteger(value) && Math.abs(value) > 2 ** 53 - 1) throw new Bad();
  }
  if (typeof value !== 'object' || value === null) return;
  if (depth > 16) throw new Bad();
  for (const [name, member] of Object.entries(value)) {
    const forbidden = ['__proto__', 'constructor', 'prototype'].includes(name);
    if (!Array.isArray(value) && (forbidden || !well(name))) throw new Bad();
    strict(member, depth + 1);
  }
}

/** Refuses an object with a member twice. */
function unique(text) {
  const open = [];
  for (const [token, name] of text.matchAll(/("(?:[^"\\]|\\.)*")\s*:|"(?:[^"\\]|\\.)*"|[{}]/g)) {
    if (token === '{') open.push(new Set());
    else if (token === '}') open.pop();
    else if (name !== undefined) {
      const names = open.at(-1);
      if (names.size === names.add(JSON.parse(name)).size) throw new Bad();
    }
  }
}

function parse(bytes) {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    const value = JSON.parse(text);
    strict(value, 1);
    unique(text);
    return { value };
  } catch {
    return null;
  }
}

function isDuration(text) {
  const found = text.length <= 64 && DURATION.exec(text);
  if (!found) return false;
  const number = (part = '') => BigInt(part.replace(/[.,].*|\D/g, '') || 0);
  const [years, months, weeks] = [1, 2, 3].map((index) => number(found[index]));
  const seconds = number(found[4]) * 86_400n + number(found[6]) * 3_600n;
  const whole = seconds + number(found[8]) * 60n + number(found[10]);
  return [years, months, weeks].every((count) => count < 2n ** 32n) && whole < 2n ** 53n;
}

/** Returns milliseconds, or null. */
function instant(text) {
  const found = STAMP.exec(text);
  if (!found) return null;
  const [year, month, day, hour, minute, second] = found.slice(1, 7).map(Number);
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const days = [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1];
  if (!days || day < 1 || day > days || hour > 23 || minute > 59 || second > 59) return null;
  const [hours, minutes] = [Number(found[8] ?? 0), Number(found[9] ?? 0)];
  if (hours > 23 || minutes > 59) return null;
  let date = 0;
  for (let one = 0; one < year; one += 1) {
    date += one % 4 === 0 && (one % 100 !== 0 || one % 400 === 0) ? 366 : 365;
  }
  for (let one = 1; one < month; one += 1) {
    date += [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][one - 1];
  }
  const part = Number((found[7] ?? '.').slice(1, 4).padEnd(3, '0'));
  const time = (((date + day - 1) * 24 + hour) * 60 + minute) * 60 + second;
  const sign = /[+]\d\d:\d\d$/.test(text) ? -1 : 1;
  return time * 1_000 + part + sign * (hours * 60 + minutes) * 60_000;
}

const text = (value, most) => typeof value === 'string' && [...value].length <= most;

function isBody(value) {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const { status, reason = '', expected_duration = '' } = value;
  if (!['active', 'inactive', 'maintenance'].includes(status) || !text(reason, 256)) return false;
  return text(expected_duration, 64) && (expected_duration === '' || isDuration(expected_duration));
}

export class Register {
  #ids = new Map();
  #last = new Map();

  learn({ kind, public_key, timestamp }, { data }, input) {
    const key = public_key.toLowerCase();
    if (kind === 'register') this.#ids.set(key, data.agent_id);
    if (kind === 'status') this.#last.set(data.agent_id, { at: instant(timestamp), input });
  }

  /** Returns the expected outcome of a status update; null for other kinds. */
  judge(request, bytes, { signed, isSignedBy }) {
    if (request.kind !== 'status') return null;
    const form = this.#form(request, bytes);
    if (form) return refused(form);
    const key = request.public_key.toLowerCase();
    if (!this.#ids.has(key)) return refused('UNKNOWN_KEY');
    const input = signed(request).text;
    if (!isSignedBy(key, input, request.signature)) return refused('MISMATCH');
    const id = TARGET.exec(request.target)[1];
    if (![...this.#ids.values()].includes(id)) return refused('UNKNOWN_AGENT');
    if (this.#ids.get(key) !== id) return refused('NOT_OWNER');
    const last = this.#last.get(id);
    if (last?.input === input) return { result: 'duplicate' };
    if (last && instant(request.timestamp) <= last.at) return refused('REPLAYED');
    return { result: 'accepted' };
  }

  #form({ target, timestamp, public_key, signature }, bytes) {
    if (bytes.length > this.largest) return 'TOO_LARGE';
    const body = parse(bytes);
    if (!body) return 'BAD_JSON';
    if (!isBody(body.value) && !this.#isOnlyDuration(body.value)) return 'SCHEMA';
    const id = TARGET.exec(target)?.[1];
    if (!id) return 'UNKNOWN_ROUTE';
    if (!/^[a-z]+_[0-9a-f]{32}$/.test(id)) return 'UNKNOWN_AGENT';
    if (!isBody(body.value)) return 'SCHEMA';
    if (timestamp === '') return 'MISSING';
    if (instant(timestamp) === null) return 'MALFORMED';
    if (public_key === '') return 'MISSING';
    if (!/^[0-9a-fA-F]{64}$/.test(public_key)) return 'MALFORMED';
    if (signature === '') return 'MISSING';
    return /^[0-9a-fA-F]{128}$/.test(signature) ? null : 'MALFORMED';
  }

  /** The duration is checked after the target; before that, any text is valid. */
  #isOnlyDuration(value) {
    return text(value?.expected_duration ?? '', 64) && isBody({ ...value, expected_duration: '' });
  }

  largest = 64 * 1024;
}
