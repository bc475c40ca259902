/**
 * A chunk: the picture before some entries and their rows. Its bytes are the length of the
 * picture's text, the text, and the span. Agents are in it as numbers only; the network's records
 * say which agent has which number.
 */
import { decodeSpan, encodeSpan, type Picture, type Span, statuses } from '../../index.js';
import type { Roster } from '../make/roster.js';

/** Another encoding, or other rows of the same log, are another format. */
export const CHUNK_FORMAT = 'view 2';

/** A picture as text, agents by number: status, dormant, reputation, votes, memes, blocks. */
export function encodePicture({ agents, ...rest }: Picture): string {
  const numbers = agents.map((agent) => [
    (statuses as readonly string[]).indexOf(agent.status),
    agent.dormant ? 1 : 0,
    agent.reputation,
    agent.votes,
    agent.memes,
    agent.blocks_produced,
  ]);
  return JSON.stringify({ ...rest, agents: numbers });
}

export function decodePicture(text: string, roster: Roster): Picture {
  const { agents, ...rest } = JSON.parse(text) as Omit<Picture, 'agents'> & { agents: number[][] };
  const known = agents.map((numbers, number) => {
    const [status, dormant, reputation, votes, memes, blocks_produced] = numbers as [
      number,
      number,
      number,
      number,
      number,
      number,
    ];
    const now = { status: statuses[status]!, dormant: dormant === 1, reputation };
    return { ...roster.at(number), ...now, votes, memes, blocks_produced };
  });
  return { ...rest, agents: known };
}

/** The picture before the entries as text, and their rows. */
export interface Chunk {
  before: string;
  span: Span;
}

export function encodeChunk({ before, span }: Chunk): Buffer {
  const text = Buffer.from(before);
  const length = Buffer.alloc(4);
  length.writeUInt32LE(text.length);
  return Buffer.concat([length, text, encodeSpan(span)]);
}

/** Null for bytes that are no whole chunk. */
export function decodeChunk(bytes: Buffer): Chunk | null {
  try {
    const end = 4 + bytes.readUInt32LE(0);
    return { before: bytes.subarray(4, end).toString(), span: decodeSpan(bytes.subarray(end)) };
  } catch {
    return null;
  }
}
