/**
 * Network data for a model. Text from other agents becomes `{untrusted: text}` with all invisible
 * characters escaped. Any text that is not known to come from the network itself counts as
 * untrusted.
 */
import { ApiError, type BlockDetail, type NetworkClient } from '../../../api/client/index.js';
import { type TSchema, Type } from '../../../engine/protocol/bundled/typebox.js';
import { formatCursor } from './acting-agents.js';

interface Untrusted {
  untrusted: string;
  /** Original length if the text is truncated. */
  characters?: number;
}

/** Members with free text from agents. */
const freeText = new Set([
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
/** Members with free JSON from agents, shown as text. */
const freeJson = new Set(['state_diff', 'value']);

/** Identifiers, hashes, times and enumerations, which cannot carry a message. */
const trusted = new RegExp(
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
/** Members that the operator sets. */
const operators = new Set(['network_id', 'version', 'cursor', 'next_cursor', 'server_time']);
const plain = /^[A-Za-z0-9._:-]{1,128}$/;
const memberName = /^[a-z][a-z0-9_]{0,40}$/;

/** Limit on text length. No comment or transaction is longer. */
const MOST_CHARACTERS = 4_096;
/** Limit on list length. */
const MOST_ITEMS = 100;

/**
 * Invisible and layout-changing characters: controls, formats (bidirectional, zero-width, tags),
 * line separators, private use, fillers and variation selectors except U+FE0F (emoji).
 */
const hidden = new RegExp(
  '[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}\\p{Co}\\p{Cs}\\p{Cn}' +
    '\\u034f\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u2800\\u3164\\uffa0\\ufe00-\\ufe0e' +
    '\\u{e0100}-\\u{e01ef}]',
  'gu',
);

export const escapeInvisible = (text: string): string =>
  text.replace(hidden, (one) => `\\u{${one.codePointAt(0)!.toString(16)}}`);

function untrusted(text: string): Untrusted {
  if (text.length <= MOST_CHARACTERS) return { untrusted: escapeInvisible(text) };
  return { untrusted: escapeInvisible(text.slice(0, MOST_CHARACTERS)), characters: text.length };
}

/** Marks every untrusted text in a response or event. */
export function markUntrusted(value: unknown, member = ''): unknown {
  if (freeJson.has(member) && value !== undefined) return untrusted(JSON.stringify(value));
  if (typeof value === 'string') return isTrusted(value, member) ? value : untrusted(value);
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

function isTrusted(text: string, member: string): boolean {
  if (text === '') return true;
  if (freeText.has(member)) return false;
  return operators.has(member) ? plain.test(text) : trusted.test(text);
}

const Marked = Type.Object({ untrusted: Type.String(), characters: Type.Optional(Type.Integer()) });

/** Returns the schema of a response after {@link markUntrusted}. */
export function markSchema(schema: TSchema): TSchema {
  const { type, properties, items, anyOf } = schema as {
    type?: string;
    properties?: Record<string, TSchema>;
    items?: TSchema;
    anyOf?: TSchema[];
  };
  if (properties) {
    const marked = Object.entries(properties).map(([name, one]) => [name, markSchema(one)]);
    return { ...schema, properties: Object.fromEntries(marked) };
  }
  if (items) return { ...schema, items: markSchema(items) } as TSchema;
  if (anyOf) return { ...schema, anyOf: anyOf.map(markSchema) } as TSchema;
  const isFree = type === 'string' && !('pattern' in schema) && !('format' in schema);
  return isFree ? { anyOf: [schema, Marked] } : schema;
}

export type Data = Record<string, unknown>;

/** Limit on the votes and transactions listed for a block. */
const MOST_ROWS = 20;

/** Returns the network state, the rules, and a cursor for later events. */
export async function networkView(client: NetworkClient): Promise<Data> {
  const [meta, state] = await Promise.all([client.meta(), client.networkState()]);
  const { policy, weights, voting_period_ms, min_validators, limits } = meta;
  const rules = { policy, weights, voting_period_ms, min_validators };
  const cursor = formatCursor({ epoch: meta.epoch, seq: meta.event_seq });
  const { profile, per_minute } = limits;
  return { ...state, rules, limits: { profile, per_minute }, cursor };
}

export async function blockView(client: NetworkClient, hash: string): Promise<Data> {
  const [{ proposal, ...block }, page] = await Promise.all([
    client.block(hash),
    client.votes(hash, { limit: MOST_ROWS }),
  ]);
  const { electorate, votes } = page;
  return {
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
  };
}

function proposalOf({ transactions, state_diff, meme_content }: BlockDetail['proposal']) {
  const shown = transactions.slice(0, MOST_ROWS).map(({ hash, data }) => ({ hash, data }));
  return { transactions: shown, all_transactions: transactions.length, state_diff, meme_content };
}

export async function agentView(client: NetworkClient, id: string): Promise<Data> {
  const [agent, reputation] = await Promise.all([client.agent(id), client.reputation(id)]);
  return { ...agent, reputation };
}

/** Returns the acting agent, or `registered: false`. */
export async function selfView(client: NetworkClient, id: string): Promise<Data> {
  try {
    return { registered: true, ...(await agentView(client, id)) };
  } catch (error) {
    if (!(error instanceof ApiError) || error.reason !== 'UNKNOWN_AGENT') throw error;
    return { registered: false, id };
  }
}
