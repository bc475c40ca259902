/**
 * The kinds of messages, and how one message is named. Every draw about a message follows from its
 * kind, its sender, the block that it is about, and how many of that kind its sender caused before
 * about that block (or, without a block, at all). So no other agent and no other block changes it.
 */
import type { CommandKind } from '../../engine/protocol/schema/command.js';
import type { SignedRequest } from '../../engine/protocol/schema/entry.js';
import { mix, type Subject } from '../rng.js';

/**
 * The kind of a message: requests go to the network, events come from it, gossip and talk go to a
 * neighbour.
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

/** Numbers that name the kinds in draws: a new kind gets a new number, or all others' shift. */
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

/** By the kind of its command; no text is put together for each request. */
export const requestKinds: Record<CommandKind, MessageKind> = {
  register: 'request.register',
  status: 'request.status',
  propose: 'request.propose',
  vote: 'request.vote',
  discuss: 'request.discuss',
  meme: 'request.meme',
  alliance_propose: 'request.alliance_propose',
  alliance_respond: 'request.alliance_respond',
  alliance_leave: 'request.alliance_leave',
};

/** Who causes a message, in draws: an agent's ordinal, or a stranger's place, which is below -1. */
export type Place = number;

/** Of somebody who is not of the scenario, by the 32 hex digits that an agent's id ends in. */
export const strangerPlace = (agentId: string): Place =>
  -2 - Number.parseInt(agentId.slice(-7), 16);

/** Counts what each agent causes of each kind, in the whole run or about one block. */
export class OwnNumbers {
  /** By the kind's code: of agents by ordinal, and of strangers. */
  readonly #agents: Uint32Array[] = [];
  readonly #strangers = new Map<string, number>();
  readonly #size: number;

  constructor(agents: number) {
    this.#size = agents;
  }

  /** How many of the kind it caused before. */
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

/** The number that names a message in all draws about it. */
export function messageName(
  seed: number,
  kind: MessageKind,
  by: Place,
  number: number,
  block: Subject | null,
): number {
  if (!block) return mix(seed, codes[kind], by, number);
  return mix(seed, codes[kind], block.place, block.number, by, number);
}

/** Bytes of what a request says and is signed with, however it is carried. */
export function requestBytes(request: SignedRequest): number {
  const { body, file, public_key, target, timestamp, signature } = request;
  const words = public_key.length + target.length + timestamp.length + signature.length;
  return words + body.length + (file?.length ?? 0);
}

/** What is longer is a picture, or a book. */
const LONGEST_TEXT_BYTES = 4_096;

/** What a meme says; '' for what is no short text. */
export function memeText({ file }: SignedRequest): string {
  if (file === undefined || file.byteLength > LONGEST_TEXT_BYTES) return '';
  const text = Buffer.from(file).toString();
  return text.includes('\ufffd') ? '' : text;
}
