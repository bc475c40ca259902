/**
 * Kinds and names of messages. All draws about a message derive from its kind, its sender, its
 * block, and the sender's number of earlier messages of that kind about that block (or in total,
 * without a block). Other agents and other blocks therefore do not affect the draws.
 */
import type { CommandKind } from '../../engine/protocol/schema/command.js';
import type { SignedRequest } from '../../engine/protocol/schema/entry.js';
import { mixFour, mixSix, type Subject } from '../rng.js';

/**
 * Message kind: requests to the network, events from the network, gossip, and talk to neighbours.
 *
 * @useDeclaredType
 */
export type MessageKind =
  | `request.${CommandKind}`
  | 'event.proposal'
  | 'event.close'
  | 'event.invitation'
  | 'gossip.vote'
  | 'gossip.meme'
  | 'gossip.remark'
  | 'talk';

/** Kind codes used in draws. New kinds need new codes. Changing a code changes all draws. */
const codes: Record<MessageKind, number> = {
  'request.register': 1,
  'request.status': 2,
  'request.propose': 3,
  'request.vote': 4,
  'request.discuss': 5,
  'request.meme': 6,
  'request.alliance_propose': 7,
  'request.alliance_respond': 8,
  'request.alliance_leave': 9,
  'event.proposal': 20,
  'event.close': 21,
  'event.invitation': 22,
  'gossip.vote': 40,
  'gossip.meme': 41,
  'gossip.remark': 42,
  talk: 60,
};

export const messageKinds = Object.keys(codes) as readonly MessageKind[];

/** Message kinds by command kind. A table, because building a string per request is slow. */
export const requestKinds = Object.fromEntries(
  messageKinds.flatMap((kind) =>
    kind.startsWith('request.') ? [[kind.slice('request.'.length), kind]] : [],
  ),
) as Record<CommandKind, MessageKind>;

/** Sender as named in draws: an ordinal, or a number below -1 for an agent outside the scenario. */
export type Place = number;

/** Returns the place of an agent outside the scenario, derived from its id's 32 hex digits. */
export const strangerPlace = (agentId: string): Place =>
  -2 - Number.parseInt(agentId.slice(-7), 16);

/** Counters per agent and kind, for the whole run or for one block. */
export class OwnNumbers {
  /** By kind code: counts by ordinal. `#strangers` counts agents outside the scenario. */
  readonly #agents: Uint32Array[] = [];
  readonly #strangers = new Map<string, number>();
  readonly #size: number;

  constructor(agents: number) {
    this.#size = agents;
  }

  /** Returns the number of earlier messages, and increments the counter. */
  take(kind: MessageKind, by: Place): number {
    if (by < 0) {
      const number = this.#strangers.get(`${kind} ${by}`) ?? 0;
      this.#strangers.set(`${kind} ${by}`, number + 1);
      return number;
    }
    const code = codes[kind];
    const counts = this.#agents[code] ?? new Uint32Array(this.#size);
    this.#agents[code] = counts;
    const number = counts[by]!;
    counts[by] = number + 1;
    return number;
  }
}

/** Returns the hash that names a message in draws. */
export function messageName(
  seed: number,
  kind: MessageKind,
  by: Place,
  number: number,
  block: Subject | null,
): number {
  if (!block) return mixFour(seed, codes[kind], by, number);
  return mixSix(seed, codes[kind], block.place, block.number, by, number);
}

/** Returns the size of a request's content and credentials, on any transport. */
export function requestBytes(request: SignedRequest): number {
  const { body, file, public_key, target, timestamp, signature } = request;
  const words = public_key.length + target.length + timestamp.length + signature.length;
  return words + body.length + (file?.length ?? 0);
}

/** Size limit for text. Longer files are not shown as text. */
const LONGEST_TEXT_BYTES = 4_096;

/** Returns a meme's text; empty if the meme is not a short text. */
export function memeText({ file }: SignedRequest): string {
  if (file === undefined || file.byteLength > LONGEST_TEXT_BYTES) return '';
  const text = Buffer.from(file).toString();
  return text.includes('\ufffd') ? '' : text;
}
