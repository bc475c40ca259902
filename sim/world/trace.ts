/**
 * Trace digest: a rolling hash of the commands that changed the network, and of the events, in
 * integers. It costs a few multiplications for a command, so that runs without a log can be
 * compared. Commands and events have a hash each, because deadlines fire either before or while
 * the next command is applied.
 */
import type { Outcome } from '../../engine/core/state.js';
import type { Command, CommandKind, VoteCommand } from '../../engine/protocol/schema/command.js';
import type { Event } from '../../engine/protocol/schema/event.js';

const kinds: Record<CommandKind, number> = {
  register: 1,
  status: 2,
  vote: 3,
  propose: 4,
  meme: 5,
  discuss: 6,
  alliance_propose: 7,
  alliance_respond: 8,
  alliance_leave: 9,
};

const TWO_32 = 2 ** 32;

export class Trace {
  readonly #commands = new Lanes();
  readonly #events = new Lanes();
  /** Hashes of event types. */
  readonly #words = new Map<string, number>();
  /** Block of the last vote, and its hash. */
  #block = '';
  #blockWord = 0;

  /** The digest so far, 16 hex digits. */
  get digest(): string {
    const whole = new Lanes();
    for (const { a, b } of [this.#commands, this.#events]) {
      whole.add(a);
      whole.add(b);
    }
    return hex(whole.a) + hex(whole.b);
  }

  /** Adds a logged command. Requests without change, which verifiers skip, are not in the trace. */
  command(at: number, from: number, command: Command, { result }: Outcome): void {
    if (result === 'refused' || result === 'duplicate') return;
    this.#commands.add(2 * kinds[command.kind] + (result === 'accepted' ? 1 : 0));
    this.#time(at);
    this.#commands.add(from);
    if (command.kind === 'vote') this.#vote(command);
    else this.#content(command);
  }

  /** Adds the events of a command or of deadlines. */
  events(events: readonly Event[]): void {
    for (const event of events) {
      this.#events.add(event.seq);
      if (event.type === 'block_validation') continue;
      this.#events.add(this.#word(event.type));
      this.#event(event);
    }
  }

  #vote({ block_hash: block, decision, ballot }: VoteCommand): void {
    if (block !== this.#block) {
      this.#block = block;
      this.#blockWord = hashText(block);
    }
    this.#commands.add(this.#blockWord + (decision === 'approve' ? 1 : 0));
    if (ballot !== undefined) this.#commands.text(JSON.stringify(ballot));
  }

  #content(command: Exclude<Command, VoteCommand>): void {
    if (command.kind === 'propose') this.#commands.text(command.block_hash);
    else if (command.kind === 'meme') this.#commands.text(command.meme_id);
    else if (command.kind === 'status') this.#commands.text(command.status);
    else if (command.kind === 'register') this.#commands.text(command.agent_id);
    else if (command.kind === 'discuss')
      this.#commands.text(`${command.block_hash} ${command.message}`);
    else this.#commands.text(command.alliance_id);
  }

  #event(event: Event): void {
    if (event.type === 'block_status') {
      const { block_hash, status, approve, reject, choice = '' } = event.data;
      this.#events.text(`${block_hash} ${status} ${choice}`);
      this.#events.add(approve);
      this.#events.add(reject);
    } else if (event.type === 'reputation_update') {
      this.#events.text(event.data.agent_id);
      this.#events.add(Math.round(event.data.new_score * 10_000));
    } else if (event.type === 'alliance_update') {
      this.#events.text(`${event.data.alliance_id} ${event.data.status}`);
    }
  }

  #time(at: number): void {
    this.#commands.add(Math.floor(at / TWO_32));
    this.#commands.add(at);
  }

  #word(text: string): number {
    const known = this.#words.get(text);
    if (known !== undefined) return known;
    const hash = hashText(text);
    this.#words.set(text, hash);
    return hash;
  }
}

/** Two lanes of 32 bits with different multipliers. */
class Lanes {
  a = 0x9e3779b9 | 0;
  b = 0x7f4a7c15 | 0;

  add(value: number): void {
    const a = Math.imul(this.a ^ value, 0x85ebca6b);
    this.a = a ^ (a >>> 15);
    const b = Math.imul((this.b + value) | 0, 0xc2b2ae35);
    this.b = b ^ (b >>> 13) ^ (a << 7);
  }

  text(text: string): void {
    this.add(hashText(text));
  }
}

const hex = (lane: number) => (lane >>> 0).toString(16).padStart(8, '0');

function hashText(text: string): number {
  let hash = 0x811c9dc5 | 0;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return hash ^ (hash >>> 16);
}
