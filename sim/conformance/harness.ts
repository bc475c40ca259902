/**
 * Runs a case on a network in virtual time and records each request, its outcome and its log
 * entries.
 */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { GenesisOptions } from '../../engine/admit/genesis.js';
import type { Outcome } from '../../engine/core/state.js';
import { createVerifier } from '../../engine/crypto/create-verifier.js';
import { keyPairFromSeed, sign } from '../../engine/crypto/keys.js';
import { type VirtualClock, virtualClock } from '../../engine/node/clock.js';
import { Network } from '../../engine/node/network.js';
import {
  composeRegister,
  composeStatus,
  type Registration,
  type Signatory,
} from '../../engine/protocol/compose.js';
import type { SignedRequest } from '../../engine/protocol/schema/entry.js';
import { SCHEMA_VERSION, tables } from '../../engine/protocol/schema/record.js';
import type { Answer } from '../../engine/protocol/schema/view.js';
import { agentId } from '../../engine/protocol/signing.js';
import { storedLines } from '../../engine/replay/lines.js';
import type { ReplayedStep } from '../../engine/replay/recompute.js';
import { replay } from '../../engine/replay/replay.js';
import { openLmdbStore } from '../../engine/store/lmdb.js';
import type {
  ExpectedEntry,
  ExpectedLine,
  ExpectedOutcome,
  InputLine,
  InputRequest,
} from './format.js';

/** 2025-01-01T00:00:00Z. */
const START_MS = 1_735_689_600_000;

export interface Actor extends Signatory {
  id: string;
}

/** Returns an actor whose key depends only on the number. */
export function actor(number: number): Actor {
  const seed = new Uint8Array(32);
  new DataView(seed.buffer).setUint32(0, number);
  const keys = keyPairFromSeed(seed);
  const { publicKeyHex: publicKey } = keys;
  const signed = (input: string) => Buffer.from(sign(Buffer.from(input), keys)).toString('hex');
  return { publicKey, id: agentId(publicKey), sign: signed };
}

/** Case in the suite. */
export interface Case {
  name: string;
  about: string;
  genesis?: Omit<Partial<GenesisOptions>, 'network_id'>;
  play(harness: Harness): Promise<void>;
}

interface Played {
  input: InputLine;
  request?: SignedRequest;
  outcome: Outcome | null;
  /** Sequence number of the last log entry after the line. */
  seq: number;
}

/** Returns the short form of a body or file that repeats one byte, or null for any other. */
function filled(bytes: Uint8Array): { byte: number; bytes: number } | null {
  const byte = bytes[0];
  if (byte === undefined || bytes.length < 4096 || bytes.some((one) => one !== byte)) return null;
  return { byte, bytes: bytes.length };
}

export class Harness {
  readonly played: Played[] = [];
  readonly network: Network;
  readonly #clock: VirtualClock;
  #stamps = 0;
  #actors = 0;

  constructor(network: Network, clock: VirtualClock) {
    this.network = network;
    this.#clock = clock;
  }

  get networkId(): string {
    return this.network.genesis.network_id;
  }

  get head(): string {
    return this.network.read.networkState().head_hash;
  }

  /** Returns a timestamp to sign, later than all previous timestamps. */
  stamp(): string {
    this.#stamps += 1;
    return new Date(START_MS + this.#stamps).toISOString();
  }

  actor(): Actor {
    this.#actors += 1;
    return actor(this.#actors);
  }

  /** Submits a request, one millisecond after the previous step. */
  async ask(request: SignedRequest, note?: string): Promise<Outcome> {
    this.#clock.set(this.#clock.now() + 1);
    const outcome = await this.network.submit(await this.network.verify(request));
    this.#keep({ ...(note === undefined ? {} : { note }), request }, outcome);
    return outcome;
  }

  /** Submits a request that must be accepted, and returns its answer. */
  async do<A extends Answer = Answer>(request: SignedRequest, note?: string): Promise<A> {
    const outcome = await this.ask(request, note);
    if (outcome.result === 'accepted') return outcome.data as A;
    throw new Error(`refused at line ${this.played.length}: ${JSON.stringify(outcome)}`);
  }

  /** Advances time. */
  async pass(ms: number): Promise<void> {
    this.#clock.set(this.#clock.now() + ms);
    this.network.fireDeadlines();
    await this.network.durable;
    this.#keep({}, null);
  }

  async join(
    capabilities: Registration['capabilities'] = ['validator', 'producer'],
    fields: Partial<Registration> = {},
  ): Promise<Actor> {
    const by = this.actor();
    const profile = { name: 'somebody', personality: 'neutral', capabilities, ...fields };
    await this.do(composeRegister(by, this.stamp(), profile));
    return by;
  }

  async joinMany(count: number, ...rest: Parameters<Harness['join']>): Promise<Actor[]> {
    const all: Actor[] = [];
    for (let index = 0; index < count; index += 1) all.push(await this.join(...rest));
    return all;
  }

  status(by: Actor, status: 'active' | 'inactive' | 'maintenance'): Promise<Outcome> {
    return this.ask(composeStatus(by, this.stamp(), by.id, { status }));
  }

  #keep(what: { note?: string; request?: SignedRequest }, outcome: Outcome | null): void {
    const { note, request } = what;
    const input: InputLine = {
      line: this.played.length + 1,
      at: this.#clock.now(),
      ...(note === undefined ? {} : { note }),
      ...(request ? { request: shown(request) } : {}),
    };
    const { seq } = this.network.read.position;
    this.played.push({ input, ...(request ? { request } : {}), outcome, seq });
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function bodyOf(body: Uint8Array): Partial<InputRequest> {
  const same = filled(body);
  if (same) return { body_filled: same };
  try {
    return { body: utf8.decode(body) };
  } catch {
    return { body_hex: Buffer.from(body).toString('hex') };
  }
}

function fileOf(file: Uint8Array | undefined): Partial<InputRequest> {
  if (!file) return {};
  const same = filled(file);
  return same ? { file_filled: same } : { file_base64: Buffer.from(file).toString('base64') };
}

function shown(request: SignedRequest): InputRequest {
  const { kind, public_key, target, timestamp, signature, body, file } = request;
  const head = { kind, public_key, target, timestamp, signature };
  return { ...head, ...bodyOf(body), ...fileOf(file) };
}

/** Returns an outcome without the refusal message, which is not part of the protocol. */
function expectedOutcome(outcome: Outcome): ExpectedOutcome {
  if ('data' in outcome) return { result: outcome.result, data: outcome.data };
  const { message: _, ...refusal } = outcome.refusal;
  return { result: outcome.result, ...refusal };
}

const NETWORK_ID = 'conformance';

interface PlayedCase {
  input: InputLine[];
  expected: ExpectedLine[];
  log_digest: string;
  digest: string;
}

export async function playCase(one: Case): Promise<PlayedCase> {
  const folder = await mkdtemp(join(tmpdir(), 'folkmoot-conformance-'));
  try {
    const path = join(folder, 'network');
    const { played, genesis } = await perform(one, path);
    const steps = await stepsOf(path);
    const input = [{ line: 0, at: START_MS, genesis }, ...played.map((line) => line.input)];
    const last = steps.at(-1)!;
    const { log_digest, digest } = last;
    return { input, expected: expectedOf(played, steps), log_digest, digest };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function perform({ genesis = {}, play }: Case, path: string) {
  const verifier = createVerifier('inline');
  const clock = virtualClock(START_MS);
  let fatal: Error | undefined;
  const network = await Network.open({
    path,
    genesis: { ...genesis, network_id: NETWORK_ID },
    verifier,
    clock,
    onFatal: (error) => {
      fatal = error;
    },
  });
  const harness = new Harness(network, clock);
  try {
    await play(harness);
  } finally {
    await network.close();
    await verifier.close();
  }
  if (fatal) throw fatal;
  return { played: harness.played, genesis: network.genesis };
}

/** Recomputes each entry's effects from the log. */
async function stepsOf(path: string): Promise<ExpectedEntry[]> {
  const store = openLmdbStore({ path, tables, schemaVersion: SCHEMA_VERSION, readOnly: true });
  const steps: ExpectedEntry[] = [];
  try {
    const lines = storedLines(store, 0, store.meta()!.seq);
    const { first_divergence } = await replay({
      lines,
      stored: store,
      onStep: (step) => steps.push(entryOf(step)),
    });
    if (first_divergence) throw new Error(`replay failed: ${JSON.stringify(first_divergence)}`);
    return steps;
  } finally {
    await store.close();
  }
}

function entryOf({ entry, events, changes, digest, log_digest }: ReplayedStep): ExpectedEntry {
  const { seq, at, kind } = entry;
  return {
    seq,
    at,
    kind,
    events: events.map(({ json }) => JSON.parse(json)),
    records: changes.map(({ table, key, json }) => [table, key, json && JSON.parse(json)]),
    log_digest,
    digest,
  };
}

function expectedOf(played: readonly Played[], steps: readonly ExpectedEntry[]): ExpectedLine[] {
  let from = 1;
  const lines = played.map(({ input, outcome, seq }): ExpectedLine => {
    const entries = steps.slice(from, seq + 1);
    from = seq + 1;
    return {
      line: input.line,
      ...(outcome ? { outcome: expectedOutcome(outcome) } : {}),
      entries,
    };
  });
  return [{ line: 0, entries: steps.slice(0, 1) }, ...lines];
}
