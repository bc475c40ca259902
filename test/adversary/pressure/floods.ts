/** Kinds of WebSocket floods: a first part, and a repeated part. */
import { type Agent, auth } from '../../support/service/signer.js';
import { frame, opcodes, textFrame } from '../draw/frames.js';

export interface Flood {
  name: string;
  first: readonly Buffer[];
  again: Buffer;
  /** True if the client reads responses; otherwise the server must buffer them. */
  reads: boolean;
}

const repeated = (part: Buffer, times: number) =>
  Buffer.concat(new Array<Buffer>(times).fill(part));
const json = (message: object) => textFrame(JSON.stringify(message));

const pings = repeated(frame({ opcode: opcodes.ping, payload: Buffer.alloc(125, 'p') }), 200);
const pongs = repeated(frame({ opcode: opcodes.pong, payload: Buffer.alloc(125, 'p') }), 200);
const kib = Buffer.alloc(1_024, 'f');
const begun = frame({ opcode: opcodes.text, payload: kib, final: false });
const fragments = repeated(frame({ opcode: opcodes.more, payload: kib, final: false }), 20);
const empties = repeated(
  frame({ opcode: opcodes.more, payload: Buffer.alloc(0), final: false }),
  500,
);
const messages = repeated(json({ type: 'ping', id: 'x'.repeat(128) }), 50);
const topics = ['blocks', 'proposals', 'consensus', 'outcomes', 'network', 'social', 'memes'];

/** Returns all kinds of floods, by agents that are registered if required. */
export function floods(agents: readonly Agent[], epoch: string): Flood[] {
  const by = (index: number) => json(auth(agents[index % agents.length]!));
  const since = { epoch, seq: 0 };
  const backwards = json({ type: 'subscribe', topics, since });
  const promised = frame({ opcode: opcodes.text, payload: kib, promised: 65_000n });
  return [
    { name: 'pings before auth', first: [], again: pings, reads: false },
    { name: 'pings after auth', first: [by(0)], again: pings, reads: false },
    { name: 'pongs after auth', first: [by(1)], again: pongs, reads: false },
    { name: 'fragments before auth', first: [begun], again: fragments, reads: false },
    { name: 'fragments after auth', first: [by(2), begun], again: fragments, reads: true },
    { name: 'empty fragments', first: [by(3), begun], again: empties, reads: true },
    { name: 'messages before auth', first: [], again: messages, reads: false },
    { name: 'messages after auth', first: [by(4)], again: messages, reads: false },
    { name: 'history, not read', first: [by(5), backwards], again: Buffer.alloc(0), reads: false },
    { name: 'a long frame', first: [by(6), promised], again: kib.subarray(0, 16), reads: false },
  ];
}
