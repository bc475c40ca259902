/** Entries: the lines of the log, and how each kind of request travels over HTTP. */
import type { CommandKind } from './command.js';

/**
 * A request as received. `signature` is that of the header (or of the meme form); a vote's and a
 * proposal's stands in the body. What a kind does not carry is ''.
 */
export interface SignedRequest {
  kind: CommandKind;
  /** Header X-Agent-Public-Key. */
  public_key: string;
  /** Request-target from /api/v1/ on, query included. */
  target: string;
  /** Header X-Timestamp. */
  timestamp: string;
  signature: string;
  /** Raw body; for a meme the signed fields `{caption, content_sha256, tags}` as JSON. */
  body: Uint8Array;
  /** A meme's file; its hash is in the body. */
  file?: Uint8Array;
}

/**
 * What an entry of the log is: a command's kind, `tick` (a deadline that fired) or `genesis` (entry
 * 0).
 */
export type EntryKind = 'genesis' | 'tick' | CommandKind;

/** One line of the log. Genesis has its parameters as body; a tick has only its time. */
export interface Entry {
  /** From 0, without gaps. */
  seq: number;
  /** Engine time, milliseconds since 1970, never less than that of the entry before. */
  at: number;
  kind: EntryKind;
  public_key: string;
  target: string;
  timestamp: string;
  signature: string;
  body: Uint8Array;
}

/** A tick has nothing but its time. */
const tick = {
  kind: 'tick',
  public_key: '',
  target: '',
  timestamp: '',
  signature: '',
  body: new Uint8Array(),
} as const;

/**
 * A request's entry, or a tick's. Member by member, since each vote makes one: a copy of all that a
 * request has takes longer.
 */
export function createEntry(
  seq: number,
  at: number,
  request: Omit<Entry, 'seq' | 'at'> = tick,
): Entry {
  const { kind, public_key, target, timestamp, signature, body } = request;
  return { seq, at, kind, public_key, target, timestamp, signature, body };
}

/** How a kind of request travels. */
export interface Carriage {
  method: 'POST' | 'PUT';
  /** `{id}` stands for the one path parameter. */
  path: string;
  /** Where the signature is: in the body, in the form, or in the header. */
  signed: 'body' | 'form' | 'header';
}

/**
 * How each kind of request travels over HTTP: method, path below the server's root, and where its
 * signature stands.
 */
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

/** The path parameter of a request-target of this kind, in any form; null for other targets. */
export function pathParameter(kind: CommandKind, target: string): string | null {
  const [before = '', after = ''] = carriage[kind].path.split('{id}');
  const path = target.split('?', 1)[0] ?? '';
  if (!path.startsWith(before) || !path.endsWith(after)) return null;
  const id = path.slice(before.length, path.length - after.length);
  return /^[^/]+$/.test(id) ? id : null;
}

/** The path parameter of a request-target if it is a well-formed id, or null. */
export function targetId(kind: CommandKind, target: string): string | null {
  if (!carriage[kind].path.includes('{id}')) return null;
  const id = pathParameter(kind, target);
  return id !== null && /^[a-z]+_[0-9a-f]{32}$/.test(id) ? id : null;
}

/** Whether a request-target, apart from its query, is that of a kind, whatever it names. */
export function isTargetOf(kind: CommandKind, target: string): boolean {
  const { path } = carriage[kind];
  if (path.includes('{id}')) return pathParameter(kind, target) !== null;
  return target === path || target.split('?', 1)[0] === path;
}

/** The request-target of a kind, for clients. */
export function targetOf(kind: CommandKind, id = ''): string {
  return carriage[kind].path.replace('{id}', id);
}
