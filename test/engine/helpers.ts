/** Helpers for engine tests: a population of agents that send requests to a network. */
import {
  type AllianceFields,
  type AnswerOf,
  type BlockStatus,
  composeAllianceLeave,
  composeAlliancePropose,
  composeAllianceRespond,
  composeMeme,
  composeProposal,
  composeRegister,
  composeStatus,
  composeTransaction,
  composeVote,
  type Decision,
  type Event,
  type EventData,
  type EventType,
  type Outcome,
  type ProposalFields,
  type Reason,
  type Refusal,
  type Registration,
  reasons,
  type Signatory,
  type SignedRequest,
  type SignedTransaction,
  type Status,
} from 'folkmoot';
import { type Citizen, citizenOf, instant, paperSignatory, START_MS } from '../support/citizens.js';
import {
  signatoryOf,
  type TestNetwork,
  type TestNetworkOptions,
  testNetwork,
  testsWith,
} from '../support/fixture.js';

export type Capability = 'validator' | 'producer';

/** Returns an outcome's result, or the reason for its refusal. */
export function word(outcome: Outcome): string {
  return outcome.result === 'refused' ? outcome.refusal.reason : outcome.result;
}

/** Returns the response to an accepted or duplicate command. */
export function answerOf<K extends keyof AnswerOf>(outcome: Outcome): AnswerOf[K] {
  if (!('data' in outcome)) throw new Error(`was not done: ${JSON.stringify(outcome.refusal)}`);
  return outcome.data as AnswerOf[K];
}

/** Returns the refusal of a command. */
export function refusalOf(outcome: Outcome) {
  if ('data' in outcome) throw new Error(`was done: ${JSON.stringify(outcome.data)}`);
  return outcome.refusal;
}

/** Expects a refusal with this reason and the reason's code and status. */
export function expectRefused(outcome: Outcome, reason: Reason, more: Partial<Refusal> = {}): void {
  const { code, status } = reasons[reason];
  expect(refusalOf(outcome)).toMatchObject({ code, status, reason, ...more });
}

/** Creates a population, by default without verification and with made-up keys. */
export async function newPopulation(options: TestNetworkOptions = {}): Promise<Population> {
  return new Population(
    await testNetwork({ verifier: 'off', ...options }),
    options.verifier ?? 'off',
  );
}

export class Population {
  network: TestNetwork['network'];
  submit: TestNetwork['submit'];
  /** Registered agents, in order of registration. */
  readonly citizens: Citizen[] = [];
  #clock: TestNetwork['clock'];
  readonly #keyOf: (number: number) => Signatory;
  #keys = 0;
  #stamps = 0;

  constructor({ network, clock, submit }: TestNetwork, verifier: string) {
    this.network = network;
    this.submit = submit;
    this.#clock = clock;
    this.#keyOf = verifier === 'off' ? paperSignatory : signatoryOf;
  }

  /** Returns the same population with a restarted network. */
  moved({ network, clock, submit }: TestNetwork): this {
    this.network = network;
    this.submit = submit;
    this.#clock = clock;
    return this;
  }

  /** Milliseconds since the start. */
  get now(): number {
    return this.#clock.now() - START_MS;
  }

  /** Advances to a time in milliseconds since the start, and fires due deadlines. */
  async at(ms: number): Promise<void> {
    this.#clock.set(START_MS + ms);
    this.network.fireDeadlines();
    await this.network.durable;
  }

  async wait(ms: number): Promise<void> {
    await this.at(this.now + ms);
  }

  /** Returns a timestamp later than the previous one. */
  stamp(): string {
    this.#stamps += 1;
    return instant(this.#stamps);
  }

  key(): Signatory {
    this.#keys += 1;
    return this.#keyOf(this.#keys - 1);
  }

  async join(
    capabilities: readonly Capability[] = ['validator'],
    fields: Partial<Registration> = {},
  ): Promise<Citizen> {
    const citizen = citizenOf(this.key());
    const registration = { personality: 'neutral', name: 'someone', capabilities, ...fields };
    answerOf<'register'>(await this.submit(composeRegister(citizen, this.stamp(), registration)));
    this.citizens.push(citizen);
    return citizen;
  }

  async joinMany(count: number, ...rest: Parameters<Population['join']>): Promise<Citizen[]> {
    const citizens: Citizen[] = [];
    for (let index = 0; index < count; index += 1) citizens.push(await this.join(...rest));
    return citizens;
  }

  status(
    by: Citizen,
    status: Status,
    fields: { reason?: string; expected_duration?: string } = {},
  ) {
    return this.submit(composeStatus(by, this.stamp(), by.id, { status, ...fields }));
  }

  get head(): string {
    return this.network.read.networkState().head_hash;
  }

  propose(by: Signatory, fields: Partial<ProposalFields> = {}): Promise<Outcome> {
    return this.submit(this.proposal(by, fields));
  }

  proposal(by: Signatory, fields: Partial<ProposalFields> = {}): SignedRequest {
    const parent_hash = fields.parent_hash ?? this.head;
    return composeProposal(by, this.stamp(), { transactions: [], ...fields, parent_hash });
  }

  transaction(by: Signatory, data: string, bySender = false): SignedTransaction {
    return composeTransaction(by, this.network.genesis.network_id, data, bySender);
  }

  /** Proposes a block and returns its hash. */
  async open(by: Signatory, fields: Partial<ProposalFields> = {}): Promise<string> {
    return answerOf<'propose'>(await this.propose(by, fields)).block_hash;
  }

  vote(
    by: Signatory,
    block_hash: string,
    decision: Decision = 'approve',
    fields: { reason?: string; meme_references?: readonly string[]; ballot?: unknown } = {},
  ): Promise<Outcome> {
    return this.submit(composeVote(by, this.stamp(), { block_hash, decision, ...fields }));
  }

  /** Votes with several agents in order, and returns their outcomes as words. */
  async votes(by: readonly Signatory[], hash: string, decision: Decision): Promise<string[]> {
    const words: string[] = [];
    for (const voter of by) words.push(word(await this.vote(voter, hash, decision)));
    return words;
  }

  /** Posts a text as a meme and returns its id. */
  async meme(by: Signatory, text: string): Promise<string> {
    const fields = { caption: text, tags: [], file: new TextEncoder().encode(text) };
    return answerOf<'meme'>(await this.submit(composeMeme(by, this.stamp(), fields))).meme_id;
  }

  ally(by: Signatory, targets: readonly Citizen[], fields: Partial<AllianceFields> = {}) {
    const alliance = { purpose: 'win', target_ids: targets.map(({ id }) => id), ...fields };
    return this.submit(composeAlliancePropose(by, this.stamp(), alliance));
  }

  respond(by: Signatory, allianceId: string, accepted: boolean): Promise<Outcome> {
    return this.submit(composeAllianceRespond(by, this.stamp(), allianceId, accepted));
  }

  leave(by: Signatory, allianceId: string): Promise<Outcome> {
    return this.submit(composeAllianceLeave(by, this.stamp(), allianceId));
  }

  /** Founds an alliance that all invitees join in this order, and returns its id. */
  async allied(by: Signatory, others: readonly Citizen[], fields: Partial<AllianceFields> = {}) {
    const { alliance_id } = answerOf<'alliance_propose'>(await this.ally(by, others, fields));
    for (const other of others) answerOf(await this.respond(other, alliance_id, true));
    return alliance_id;
  }

  blockStatus(hash: string): BlockStatus | undefined {
    return this.network.read.block(hash)?.status;
  }

  /** Returns the number of the last event, for `since`. */
  mark(): number {
    return this.network.read.position.event_seq;
  }

  since(mark: number): Event[] {
    return [...this.network.read.events(mark + 1, this.mark())];
  }

  /** Returns the data from all events with a given type after a mark. */
  told<T extends EventType>(type: T, mark = 0): EventData[T][] {
    const found = this.since(mark).filter((event) => event.type === type);
    return found.map((event) => event.data as EventData[T]);
  }
}

/** Defines a test on a new network with the default rules. */
export const populated = testsWith(() => newPopulation());
