import type { CommandKind } from './command.js';

/**
 * A request as received. `signature` comes from the header or the meme form; the signature of a
 * vote or a proposal is in the body. Members that a kind does not use are ''.
 */
export interface SignedRequest {
  kind: CommandKind;
  /** Header X-Agent-Public-Key. */
  public_key: string;
  /** Request-target, starting at /api/v1/ and including its query. */
  target: string;
  /** Header X-Timestamp. */
  timestamp: string;
  signature: string;
  /** Raw body; for a meme, the signed fields `{caption, content_sha256, tags}` as JSON. */
  body: Uint8Array;
  /** A meme's file, whose hash is in the body. */
  file?: Uint8Array;
  /** The body as text, if bytes would have to be made from it. @internal */
  readonly bodyText?: string;
}

/** Log entry kind: a request kind, `tick` (a deadline fired) or `genesis` (entry 0). */
export type EntryKind = 'genesis' | 'tick' | CommandKind;

/** A log entry. The genesis entry's body contains the parameters. A tick contains only a time. */
export interface Entry {
  /** Sequence number, from 0 without gaps. */
  seq: number;
  /** Engine time in milliseconds since 1970. Never decreases. */
  at: number;
  kind: EntryKind;
  public_key: string;
  target: string;
  timestamp: string;
  signature: string;
  body: Uint8Array;
}

/** An entry to encode. */
export interface NewEntry extends Omit<Entry, 'body'> {
  body: Uint8Array | string;
}

const tick = {
  kind: 'tick',
  public_key: '',
  target: '',
  timestamp: '',
  signature: '',
  body: new Uint8Array(),
} as const;

/** Creates an entry from a request, or a tick. Members are listed because a spread is slower. */
export function createEntry(
  seq: number,
  at: number,
  request: Omit<Entry, 'seq' | 'at'> & Pick<SignedRequest, 'bodyText'> = tick,
): NewEntry {
  const { kind, public_key, target, timestamp, signature } = request;
  const body = request.bodyText ?? request.body;
  return { seq, at, kind, public_key, target, timestamp, signature, body };
}

/** HTTP binding for a request kind. */
export interface Carriage {
  method: 'POST' | 'PUT';
  /** Path with at most one parameter, `{id}`. */
  path: string;
  /** Position of the signature. */
  signed: 'body' | 'form' | 'header';
}

/** Method, path and position of the signature over HTTP, by request kind. */
export const carriage: Record<CommandKind, Carriage> = {
  register: { method: 'POST', path: '/api/v1/agents/register', signed: 'header' },
  status: { method: 'PUT', path: '/api/v1/agents/{id}/status', signed: 'header' },
  vote: { method: 'POST', path: '/api/v1/consensus/vote', signed: 'body' },
  propose: { method: 'POST', path: '/api/v1/blocks/propose', signed: 'body' },
  meme: { method: 'POST', path: '/api/v1/social/memes', signed: 'form' },
  discuss: { method: 'POST', path: '/api/v1/consensus/discuss', signed: 'header' },
  alliance_propose: {
    method: 'POST',
    path: '/api/v1/social/alliances/propose',
    signed: 'header',
  },
  alliance_respond: {
    method: 'POST',
    path: '/api/v1/social/alliances/{id}/respond',
    signed: 'header',
  },
  alliance_leave: {
    method: 'POST',
    path: '/api/v1/social/alliances/{id}/leave',
    signed: 'header',
  },
};

/**
 * Returns the path parameter in a request-target of this kind, even if invalid. Returns null for a
 * target of a different kind.
 */
export function pathParameter(kind: CommandKind, target: string): string | null {
  const [before = '', after = ''] = carriage[kind].path.split('{id}');
  const path = target.split('?', 1)[0] ?? '';
  if (!path.startsWith(before) || !path.endsWith(after)) return null;
  const id = path.slice(before.length, path.length - after.length);
  return /^[^/]+$/.test(id) ? id : null;
}

/** Returns the path parameter in a request-target if it is a well-formed id, or null. */
export function targetId(kind: CommandKind, target: string): string | null {
  if (!carriage[kind].path.includes('{id}')) return null;
  const id = pathParameter(kind, target);
  return id !== null && /^[a-z]+_[0-9a-f]{32}$/.test(id) ? id : null;
}

/** Returns true if a request-target, without its query, belongs to a kind. */
export function isTargetOf(kind: CommandKind, target: string): boolean {
  const { path } = carriage[kind];
  if (path.includes('{id}')) return pathParameter(kind, target) !== null;
  return target === path || target.split('?', 1)[0] === path;
}

/** Builds the request-target for a kind. */
export function targetOf(kind: CommandKind, id = ''): string {
  return carriage[kind].path.replace('{id}', id);
}
