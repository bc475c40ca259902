/** Agents that write as much as the limits allow in every minute of virtual time. */
import type { VirtualClock } from 'folkmoot';
import {
  type Agent,
  discuss,
  meme,
  propose,
  type Request,
  signed,
  vote,
} from '../../support/service/signer.js';
import { type Answer, call, get } from '../../support/service/world.js';

export interface Room {
  url: string;
  clock: VirtualClock;
}

/** Bytes counted in addition to body and file. See docs/protocol.md. */
const BESIDE_BYTES = 512;

export type Writer = (room: Room, by: Agent, minute: number) => AsyncGenerator<Request | 'wait'>;

const at = ({ clock }: Room) => new Date(clock.now()).toISOString();

/** Writes status updates padded with whitespace. */
const padded = (bytes: number): Writer =>
  async function* (room, by) {
    const path = `/api/v1/agents/${by.agentId}/status`;
    for (;;) {
      room.clock.set(room.clock.now() + 1);
      yield signed(by, 'PUT', path, '{"status":"active"}'.padEnd(bytes, ' '), at(room));
    }
  };

async function head({ url }: Room): Promise<string> {
  return String((await get(url, '/api/v1/network/state')).data.head_hash);
}

/** Writes proposals with many small values of growing state, finalized by the proposer's vote. */
const proposals = (bytes: number): Writer =>
  async function* (room, by, minute) {
    for (let number = 0; ; number += 1) {
      room.clock.set(room.clock.now() + 1);
      const additions = Object.fromEntries(
        Array.from({ length: Math.max(1, Math.floor(bytes / 4_000)) }, (_, index) => [
          `key-${minute}-${number}-${index}`,
          'x'.repeat(Math.min(bytes, 3_900)),
        ]),
      );
      const fields = { parent_hash: await head(room), state_diff: { additions } };
      yield propose(by, fields, at(room));
      yield* voted(room, by);
    }
  };

async function* voted(room: Room, by: Agent): AsyncGenerator<Request> {
  const { blocks } = (await get(room.url, '/api/v1/blocks?status=voting&limit=1')).data;
  const [open] = blocks as { block_hash: string }[];
  if (open) yield vote(by, { block_hash: open.block_hash }, at(room));
}

/** Writes discussion messages, all repeated in events, on a block that stays open. */
const discussions: Writer = async function* (room, by) {
  yield propose(by, { parent_hash: await head(room) }, at(room));
  const { blocks } = (await get(room.url, '/api/v1/blocks?status=voting&limit=1')).data;
  const [open] = blocks as { block_hash: string }[];
  for (let number = 0; open; number += 1) {
    room.clock.set(room.clock.now() + 1);
    const message = `${number} `.padEnd(2_048, '\u4e2d');
    yield discuss(by, { block_hash: open.block_hash, message }, at(room));
  }
};

const memes = (bytes: number): Writer =>
  async function* (room, by, minute) {
    for (let number = 0; ; number += 1) {
      room.clock.set(room.clock.now() + 1);
      const file = `${minute} ${number} `.padEnd(bytes, 'x');
      yield meme(by, { file, caption: '\u4e2d'.repeat(280) }, at(room));
    }
  };

/** Writers by name, each writing as much as allowed. */
export const writers: Readonly<Record<string, Writer>> = {
  'statuses of 8 KiB': padded(8_192),
  'statuses of 1.6 KiB': padded(1_600),
  'small statuses': padded(20),
  discussions,
  'memes of 1 MiB': memes(1_000_000),
  'small memes': memes(10),
  'proposals of 1 MiB': proposals(1_000_000),
  'small proposals': proposals(10),
};

/** Writes for the given number of minutes. Returns the accepted bytes. */
export async function write(room: Room, writer: Writer, by: Agent, minutes: number) {
  const written = { requests: 0, bytes: 0 };
  for (let minute = 0; minute < minutes; minute += 1) {
    const end = room.clock.now() + 60_000;
    for await (const request of writer(room, by, minute)) {
      if (request === 'wait') break;
      const answer: Answer = await call(room.url, request);
      if (answer.status >= 400) break;
      written.requests += 1;
      written.bytes += countedBytes(request);
    }
    room.clock.set(Math.max(end, room.clock.now()));
  }
  return written;
}

/** Returns the bytes that the budget counts, without the form around a meme. */
function countedBytes({ path, body }: Request): number {
  const text = Buffer.from(body as Uint8Array);
  if (!path.endsWith('/memes')) return text.length + BESIDE_BYTES;
  const from = text.indexOf('octet-stream\r\n\r\n') + 'octet-stream\r\n\r\n'.length;
  const file = text.length - from - '\r\n--a-boundary-of-forms--\r\n'.length;
  return file + 1_200 + BESIDE_BYTES;
}
