/**
 * What reaches a model from the network. Texts that others wrote are data, whatever they say: each
 * is marked as `{untrusted: text}`, and nothing in it is invisible. Texts that are not known to be
 * the network's own are taken for theirs.
 */
import { ApiError, type BlockDetail, type NetworkClient } from '../../../api/client/index.js';
import { formatCursor } from './acting-agents.js';

/** A text of somebody else. */
interface Untrusted {
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
export const escapeInvisible = (text: string): string =>
  text.replace(hidden, (one) => `\\u{${one.codePointAt(0)!.toString(16)}}`);

/** A text of somebody else, marked. */
function untrusted(text: string): Untrusted {
  if (text.length <= MOST_CHARACTERS) return { untrusted: escapeInvisible(text) };
  return { untrusted: escapeInvisible(text.slice(0, MOST_CHARACTERS)), characters: text.length };
}

/** An answer or event of the network with all that others wrote in it marked. */
export function markUntrusted(value: unknown, member = ''): unknown {
  if (anything.has(member) && value !== undefined) return untrusted(JSON.stringify(value));
  if (typeof value === 'string') return isOurs(value, member) ? value : untrusted(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return items(value, member);
  const members = Object.entries(value);
  if (!members.every(([name]) => memberName.test(name))) return untrusted(JSON.stringify(value));
  return Object.fromEntries(members.map(([name, one]) => [name, markUntrusted(one, name)]));
}

function items(values: readonly unknown[], member: string): unknown[] {
  const shown = values.slice(0, MOST_ITEMS).map((one) => markUntrusted(one, member));
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

/** A member of an answer that may be anything. */
export type Data = Record<string, unknown>;

/** Rows of a block that are shown: whoever needs all of them reads the network's own interface. */
const MOST_ROWS = 20;

const asData = (value: unknown) => markUntrusted(value) as Data;

/** The network as a whole, its rules, and a cursor for news from here on. */
export async function networkView(client: NetworkClient): Promise<Data> {
  const [meta, state] = await Promise.all([client.meta(), client.networkState()]);
  const { policy, weights, voting_period_ms, min_validators, limits } = meta;
  const rules = { policy, weights, voting_period_ms, min_validators };
  const cursor = formatCursor({ epoch: meta.epoch, seq: meta.event_seq });
  const { profile, per_minute } = limits;
  return asData({ ...state, rules, limits: { profile, per_minute }, cursor });
}

/** A block with what it proposes, and the votes on it. */
export async function blockView(client: NetworkClient, hash: string): Promise<Data> {
  const [{ proposal, ...block }, page] = await Promise.all([
    client.block(hash),
    client.votes(hash, { limit: MOST_ROWS }),
  ]);
  const { electorate, votes } = page;
  return asData({
    ...block,
    proposal: proposalOf(proposal),
    electorate: electorate.slice(0, MOST_ROWS).map(({ agent_id: id, weight }) => ({ id, weight })),
    electors: electorate.length,
    votes: votes.map(({ public_key, vote: { decision, reason, meme_references } }) => ({
      id: electorate.find((elector) => elector.public_key === public_key)?.agent_id ?? null,
      decision,
      reason,
      meme_references,
    })),
    more_votes: page.next_cursor !== null,
  });
}

function proposalOf({ transactions, state_diff, meme_content }: BlockDetail['proposal']) {
  const shown = transactions.slice(0, MOST_ROWS).map(({ hash, data }) => ({ hash, data }));
  return { transactions: shown, all_transactions: transactions.length, state_diff, meme_content };
}

/** An agent and its reputation; `registered` is false of one that the network does not know. */
export async function agentView(client: NetworkClient, id: string): Promise<Data> {
  const [agent, reputation] = await Promise.all([client.agent(id), client.reputation(id)]);
  return asData({ ...agent, reputation });
}

/** The same of one who acts here and may not be registered yet. */
export async function selfView(client: NetworkClient, id: string): Promise<Data> {
  try {
    return { registered: true, ...(await agentView(client, id)) };
  } catch (error) {
    if (!(error instanceof ApiError) || error.reason !== 'UNKNOWN_AGENT') throw error;
    return { registered: false, id };
  }
}
