/**
 * Clients of a simulated cluster. Each is an agent that updates its status, proposes blocks, votes
 * and reads, at one node until the node fails it, and repeats a request until its outcome is known.
 */

import { createHash } from 'node:crypto';
import type { ClusterNetwork } from '../../cluster/network.js';
import { admit } from '../../engine/admit/admit.js';
import type { Outcome } from '../../engine/core/state.js';
import { keyPairFromSeed } from '../../engine/crypto/keys.js';
import { createDirectVerifier } from '../../engine/crypto/verifier.js';
import {
  composeMeme,
  composeProposal,
  composeRegister,
  composeStatus,
  composeVote,
  type Signatory,
} from '../../engine/protocol/compose.js';
import type { SignedRequest } from '../../engine/protocol/schema/entry.js';
import { agentId, sha256Hex } from '../../engine/protocol/signing.js';
import { sleep } from '../../engine/store/host-clock.js';
import type { Register } from './cluster-checks.js';
import type { SimulatedNode, Surroundings } from './cluster-node.js';

/** Factor by which clients are faster around faults. */
const BUSY = 15;
/** Probability that a client drops a request that was certainly not done. */
const DROPS = 0.3;
/** Time without a leader of etcd after which nodes refuse at once, and what is at once. */
const REFUSES_MS = { leaderless: 7_000, within: 1_000 } as const;
/** Time after which a client gives up waiting for an answer. */
const PATIENCE_MS = 6_000;
/** Size of a large meme. */
const LARGE_BYTES = 1_048_576;
const LATENCY_MS = { least: 0.2, most: 3 } as const;

/** Refusals after which the same request is sent again. */
const passing = new Set([
  ...['NO_QUORUM', 'DISK_FULL', 'QUEUE_FULL', 'CLOCK', 'UNCERTAIN', 'STOPPING'],
  // A node that lags does not know the agent yet.
  ...['UNKNOWN_KEY'],
]);

/** Signature of a simulated client: a digest, because Ed25519 takes a tenth of all CPU time. */
const signatureOf = (publicKey: Uint8Array, message: Uint8Array | string): Buffer =>
  createHash('sha512').update(publicKey).update(message).digest();

/** Creates the nodes' verifier, which accepts only what a client has signed. */
export const createSimulatedVerifier = () =>
  createDirectVerifier('simulated', ({ publicKey, message, signature }) =>
    signatureOf(publicKey, message).equals(signature),
  );

export class SimulatedClient {
  readonly name: string;
  readonly register: Register = { asked: 0, known: 0 };
  /** Number of acknowledged writes since this was last set to 0. */
  done = 0;
  /** Probability that a message to or from a node is lost. */
  loss: number;
  readonly #world: Surroundings;
  readonly #random: () => number;
  readonly #key: Signatory;
  readonly #id: string;
  #node: number;
  #lastStamp = 0;
  readonly #voted = new Set<string>();

  constructor(number: number, world: Surroundings) {
    this.name = `c${number}`;
    this.#world = world;
    this.#random = world.random(`client ${number}`);
    this.loss = world.plan.clientLoss;
    const seed = Buffer.from(sha256Hex(Buffer.from(`swarm client ${number}`)), 'hex');
    const { publicKey, publicKeyHex } = keyPairFromSeed(seed);
    const sign = (input: string) => signatureOf(publicKey, input).toString('hex');
    this.#key = { publicKey: publicKeyHex, sign };
    this.#id = agentId(this.#key.publicKey);
    this.#node = number % world.plan.nodes;
    world.checks.registers.set(this.#id, this.register);
  }

  /** Acts until the simulation ends. */
  async run(): Promise<void> {
    const { plan } = this.#world;
    const capabilities = ['validator', 'producer'] as const;
    const name = this.name;
    const profile = { name, personality: 'lawful', capabilities };
    await this.#write(composeRegister(this.#key, this.#stamp(), profile));
    for (;;) {
      await this.#think();
      if (this.#world.isQuiet) return;
      const kind = this.#random();
      if (plan.hasLarge && kind < 0.03) await this.#post();
      else if (kind < 0.4) await this.#writeStatus();
      else if (kind < 0.6) await this.#readLatest();
      else if (kind < 0.75) await this.#readHere();
      else if (kind < 0.85) await this.propose();
      else await this.#vote();
    }
  }

  /** Waits. A fault that begins meanwhile finds the client busy. */
  async #think(): Promise<void> {
    const { time, plan, isTense, alarm } = this.#world;
    const ms = (isTense ? plan.thinkMs / BUSY : plan.thinkMs) * 2 * this.#random();
    await sleep(time, ms, isTense ? undefined : alarm);
  }

  async #writeStatus(): Promise<void> {
    const { register } = this;
    register.asked += 1;
    const value = register.asked;
    const fields = { status: value % 5 ? 'active' : 'maintenance', reason: `${value}` } as const;
    const isDone = await this.#write(composeStatus(this.#key, this.#stamp(), this.#id, fields));
    if (isDone) register.known = Math.max(register.known, value);
  }

  /** Posts a meme that is larger than one value of etcd. */
  async #post(): Promise<void> {
    const file = Buffer.alloc(LARGE_BYTES);
    Buffer.from(`89504e470d0a1a0a${this.#id}`, 'hex').copy(file);
    await this.#write(composeMeme(this.#key, this.#stamp(), { caption: 'large', tags: [], file }));
  }

  async propose(): Promise<void> {
    const head = await this.#call(async ({ inner }) => inner.read.networkState().head_hash);
    if (head === null) return;
    await this.#write(
      composeProposal(this.#key, this.#stamp(), { parent_hash: head, transactions: [] }),
    );
  }

  async #vote(): Promise<void> {
    // The last few blocks. Voting on some of them has closed.
    const block = this.#world.blocks.at(-1 - this.#below(3));
    // A second vote with a different signature is a duplicate, and in no log.
    if (!block || this.#voted.has(block)) return;
    this.#voted.add(block);
    const decision = this.#random() < 0.7 ? 'approve' : 'reject';
    await this.#write(composeVote(this.#key, this.#stamp(), { block_hash: block, decision }));
  }

  /**
   * Reads a status at any node after a barrier, so that the read shows all that was known when it
   * began.
   */
  async #readLatest(): Promise<void> {
    const [what, register] = this.#pick();
    const { known } = register;
    const node = this.#world.nodes[this.#below(this.#world.plan.nodes)]!;
    const value = await this.#call(
      async (network) => ((await network.barrier()) ? null : valueIn(network, what)),
      node,
    );
    if (value !== null && node.isSound) this.#world.checks.readLatest(what, value, known);
  }

  /** Reads a status as the node has it. */
  async #readHere(): Promise<void> {
    const [what] = this.#pick();
    const node = this.#current;
    const value = await this.#call(async (network) => valueIn(network, what));
    if (value !== null && node.isSound) {
      this.#world.checks.readAt(this.name, node.name, what, value);
    }
  }

  #pick(): [string, Register] {
    const all = [...this.#world.checks.registers];
    return all[this.#below(all.length)]!;
  }

  /** Sends a request until its outcome is known. Returns true if it was acknowledged. */
  async #write(request: SignedRequest): Promise<boolean> {
    const { checks, time, plan, blocks } = this.#world;
    for (;;) {
      const node = this.#current;
      checks.asks(request);
      const outcome = await this.#call((network) => submit(network, request));
      const isTrusted = node.isSound;
      if (outcome && outcome.result !== 'refused') {
        this.#world.tell(this.name, `${request.kind} ${outcome.result} by ${node.name}`);
        this.done += 1;
        const data: object = 'data' in outcome ? outcome.data : {};
        if ('block_hash' in data && request.kind === 'propose')
          blocks.push(String(data.block_hash));
        if (isTrusted) checks.acknowledged(request);
        return isTrusted;
      }
      const reason = outcome?.refusal.reason;
      if (reason && isTrusted) checks.refused(request, reason);
      const canDrop = reason && checks.isUndone(reason) && request.kind !== 'register';
      if (canDrop && this.#random() < DROPS) return false;
      if (reason && !passing.has(reason)) {
        this.#world.tell(this.name, `${request.kind} refused by ${node.name}: ${reason}`);
        return false;
      }
      this.#node = (this.#node + 1) % plan.nodes;
      await sleep(time, 50 + plan.thinkMs * this.#random() * (this.#world.isTense ? 0.2 : 1));
    }
  }

  get #current(): SimulatedNode {
    return this.#world.nodes[this.#node]!;
  }

  /** Calls a node. Returns null if no answer comes. */
  #call<T>(
    work: (network: ClusterNetwork) => Promise<T | null>,
    node = this.#current,
  ): Promise<T | null> {
    const { time } = this.#world;
    return new Promise((resolve) => {
      const giveUp = time.after(PATIENCE_MS, () => resolve(null));
      const answer = (value: T | null) => {
        this.#deliver(() => {
          giveUp();
          resolve(value);
        });
      };
      this.#deliver(() => {
        const { network, clock } = node;
        if (!network || !clock) return answer(null);
        // A node that is stalled takes the request when it continues.
        clock.after(0, () => {
          const isPrompt = this.#expectPrompt(node);
          work(network)
            .catch((error: unknown) => {
              // Damaged records can fail a read in any way.
              if (node.isSound) throw error;
              return null;
            })
            .then((value) => {
              isPrompt();
              if (node.clock === clock) answer(value);
            });
        });
      });
    });
  }

  /** Without a leader of etcd, a node answers at once. Returns a function to call at the answer. */
  #expectPrompt(node: SimulatedNode): () => void {
    const { time, checks } = this.#world;
    const begun = time.monotonic();
    const mustRefuse = () =>
      Math.min(this.#world.leaderlessMs, node.steadyMs) > REFUSES_MS.leaderless;
    if (!mustRefuse()) return () => {};
    return () => {
      const passed = time.monotonic() - begun;
      if (passed < REFUSES_MS.within || !mustRefuse()) return;
      const text = `node ${node.name} answers after ${passed} ms, without a leader of etcd`;
      checks.fail('safety', 'not prompt', text);
    };
  }

  #deliver(message: () => void): void {
    if (this.loss > 0 && this.#random() < this.loss) return;
    const { least, most } = LATENCY_MS;
    this.#world.time.after(least + (most - least) * this.#random(), message);
  }

  #below(count: number): number {
    return Math.floor(this.#random() * count);
  }

  /** Time of signing. An agent's times ascend. */
  #stamp(): string {
    this.#lastStamp = Math.max(this.#lastStamp + 1, this.#world.time.now());
    return new Date(this.#lastStamp).toISOString();
  }
}

/** Returns the value of a register at a node; 0 before the first write. */
function valueIn({ inner }: ClusterNetwork, agent: string): number {
  return Number(inner.read.agent(agent)?.reason || 0);
}

/** Submits a request as a server does. */
async function submit(network: ClusterNetwork, request: SignedRequest): Promise<Outcome> {
  const admitted = admit(request, network.genesis.network_id);
  if ('refusal' in admitted) return { result: 'refused', refusal: admitted.refusal };
  const early = await network.precheck(admitted);
  if (early) return early;
  return network.submit(await network.verification.all(admitted));
}
