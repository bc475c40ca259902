/**
 * A chunk: the picture before some entries and their rows, as a file has it: a magic line, the
 * sha256 of what follows, then compressed: the length of the picture's text, the text, the span.
 * Agents are in it as numbers only; who they are is in the network's records.
 */
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, brotliDecompress, constants } from 'node:zlib';
import { decodeSpan, encodeSpan, type Picture, type Span, statuses } from '../../index.js';
import type { Roster } from '../make/roster.js';

const compress = promisify(brotliCompress);
const decompress = promisify(brotliDecompress);

const MAGIC = Buffer.from('folkmoot view 1\n');
const DIGEST_BYTES = 32;
/** A larger one is none that was made here. */
const MOST_BYTES = 2 ** 30;

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

export async function encodeChunk({ before, span }: Chunk): Promise<Buffer> {
  const text = Buffer.from(before);
  const length = Buffer.alloc(4);
  length.writeUInt32LE(text.length);
  const params = { [constants.BROTLI_PARAM_QUALITY]: 4 };
  const packed = await compress(Buffer.concat([length, text, encodeSpan(span)]), { params });
  return Buffer.concat([MAGIC, sha256(packed), packed]);
}

/** Null for what is no chunk, or not whole. */
export async function decodeChunk(bytes: Buffer): Promise<Chunk | null> {
  const start = MAGIC.length + DIGEST_BYTES;
  const packed = bytes.subarray(start);
  if (!bytes.subarray(0, MAGIC.length).equals(MAGIC)) return null;
  if (!sha256(packed).equals(bytes.subarray(MAGIC.length, start))) return null;
  try {
    const raw = await decompress(packed, { maxOutputLength: MOST_BYTES });
    const end = 4 + raw.readUInt32LE(0);
    return { before: raw.subarray(4, end).toString(), span: decodeSpan(raw.subarray(end)) };
  } catch {
    return null;
  }
}

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest();
