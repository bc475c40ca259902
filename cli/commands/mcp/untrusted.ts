/**
 * What reaches a model from the network. Texts that others wrote are data, whatever they say: each
 * is marked as `{untrusted: text}`, and nothing in it is invisible. What is not known to be the
 * network's own is taken for theirs.
 */

/** A text of somebody else. */
export interface Untrusted {
  untrusted: string;
  /** Its length, where it was cut. */
  characters?: number;
}

/** Members that agents fill as they like. */
const theirs = new Set([
  'name',
  'description',
  'personality',
  'reason',
  'message',
  'caption',
  'purpose',
  'tags',
  'content',
  'data',
]);
/** The same where they hold any JSON: shown as its text, names and all. */
const anything = new Set(['state_diff', 'value']);

/** Identifiers, hashes and times: nobody can say anything by them. */
const ours = new RegExp(
  [
    /[0-9a-f]{64}|[0-9a-f]{128}|(?:agent|meme|ally)_[0-9a-f]{32}/,
    /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z|P[\dTYMWDHS.]{1,32}/,
    /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?::\d{1,16})?/,
    /\/api\/v1\/social\/memes\/meme_[0-9a-f]{32}\/content/,
    /active|inactive|maintenance|approve|reject|positive|negative|neutral|validator|producer/,
    /voting|finalized|rejected|expired|orphaned|proposed|lapsed|dissolved|founder|member|invited/,
    /image|text|gif|bft|majority|veto|equal|reputation|alliance_bonus|spec|bench|off/,
    /[a-z]+_(?:proposal|validation|discussion|update|status|metrics|posted)/,
  ]
    .map(({ source }) => source)
    .join('|')
    .replace(/^.*$/s, (all) => `^(?:${all})$`),
);
/** Of the operator of the network. */
const operators = new Set(['network_id', 'version', 'cursor', 'next_cursor', 'server_time']);
const plain = /^[A-Za-z0-9._:-]{1,128}$/;
const memberName = /^[a-z][a-z0-9_]{0,40}$/;

/** Longer texts are cut: more than any remark or transaction may have. */
const MOST_CHARACTERS = 4_096;
/** Longer lists, too: of a full block's transactions, nobody needs each. */
const MOST_ITEMS = 100;

/**
 * What shows nothing, or moves what is shown: controls, formats (bidi, zero-width, tags that spell
 * out hidden text), separators of lines, private use, fillers and variation selectors, but for the
 * one that makes an emoji of a sign.
 */
const hidden = new RegExp(
  '[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}\\p{Co}\\p{Cs}\\p{Cn}' +
    '\\u034f\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u2800\\u3164\\uffa0\\ufe00-\\ufe0e' +
    '\\u{e0100}-\\u{e01ef}]',
  'gu',
);

/** A text in which every character shows. */
export const visible = (text: string): string =>
  text.replace(hidden, (one) => `\\u{${one.codePointAt(0)!.toString(16)}}`);

/** A text of somebody else, marked. */
export function untrusted(text: string): Untrusted {
  if (text.length <= MOST_CHARACTERS) return { untrusted: visible(text) };
  return { untrusted: visible(text.slice(0, MOST_CHARACTERS)), characters: text.length };
}

/** An answer or event of the network with all that others wrote in it marked. */
export function marked(value: unknown, member = ''): unknown {
  if (anything.has(member) && value !== undefined) return untrusted(JSON.stringify(value));
  if (typeof value === 'string') return isOurs(value, member) ? value : untrusted(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return items(value, member);
  const members = Object.entries(value);
  if (!members.every(([name]) => memberName.test(name))) return untrusted(JSON.stringify(value));
  return Object.fromEntries(members.map(([name, one]) => [name, marked(one, name)]));
}

function items(values: readonly unknown[], member: string): unknown[] {
  const shown = values.slice(0, MOST_ITEMS).map((one) => marked(one, member));
  const left_out = values.length - shown.length;
  return left_out === 0 ? shown : [...shown, { left_out }];
}

function isOurs(text: string, member: string): boolean {
  if (text === '') return true;
  if (theirs.has(member)) return false;
  return operators.has(member) ? plain.test(text) : ours.test(text);
}

/** A sentence of ours, in which nothing that others wrote can stand. */
export function sentence(parts: TemplateStringsArray, ...values: readonly unknown[]): string {
  const shown = values.map((value) => {
    if (typeof value === 'number') return String(value);
    return typeof value === 'string' && ours.test(value) ? value : '?';
  });
  return String.raw({ raw: parts }, ...shown);
}
