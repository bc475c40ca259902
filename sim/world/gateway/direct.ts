/** The gateway to a network in this process: as in a simulation, without HTTP and its limits. */
import {
  admit,
  type Event,
  freshness,
  type Network,
  type Outcome,
  type SignedRequest,
} from '../../../engine/internal.js';
import type { Gateway } from './gateway.js';

export class DirectGateway implements Gateway {
  readonly networkId: string;
  readonly head: string;
  readonly seq: number;
  readonly #network: Network;
  readonly #since: number;

  constructor(network: Network) {
    const { seq, event_seq } = network.read.position;
    this.#network = network;
    this.networkId = network.genesis.network_id;
    this.head = network.read.networkState().head_hash;
    this.seq = seq;
    this.#since = event_seq;
  }

  /** It never goes back, and stands still while the network is held. */
  now(): number {
    return this.#network.time.now;
  }

  async submit(_from: number, request: SignedRequest): Promise<Outcome> {
    const network = this.#network;
    const admitted = admit(request, this.networkId);
    if ('refusal' in admitted) return { result: 'refused', ...admitted };
    const stale = freshness(admitted.signedAt, this.now());
    if (stale) return { result: 'refused', refusal: stale };
    network.fireDeadlines();
    const look = network.precheck(admitted);
    if (!look) return network.submit(await network.verifyAdmitted(admitted));
    // It rests on what may not be durable yet.
    await network.durable;
    return look;
  }

  events(): AsyncIterable<Event> {
    return this.#network.follow(this.#since);
  }

  async transactionsOf(block: string): Promise<readonly { data: string }[] | null> {
    const record = this.#network.read.record('blocks', block);
    if (!record) return null;
    const { body } = this.#network.read.signed(record.context.entry);
    return body.transactions as { data: string }[];
  }

  /** The network is its owner's. */
  close(): void {}
}
