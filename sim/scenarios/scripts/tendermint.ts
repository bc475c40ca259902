/**
 * Tendermint (Buchman, Kwon and Milosevic 2018, The latest gossip on BFT consensus, algorithm 1):
 * for each height, leaders in rotation propose a value, and a quorum of more than two thirds
 * prevotes and then precommits it. A leader without a result loses its turn after a timeout. An
 * agent that has decided tells the others, which also decide after receiving more such messages
 * than there may be faulty agents.
 *
 * Group `faulty` is silent, or equivocates (`behaviour`): in rounds of its leaders, it sends one
 * half of the agents a different value.
 */
import type { ScriptCommand, ScriptFunction, ScriptModule, ScriptView } from 'folkmoot/sim';

/** Null stands for no value. */
type Value = string | null;
type Kind = 'propose' | 'prevote' | 'precommit' | 'decided';
interface Message {
  kind: Kind;
  height: number;
  round: number;
  value: Value;
  /** Round of the prevotes that support a proposal again; -1 for a new value. */
  support?: number;
}
interface Timeout {
  kind: Kind;
  height: number;
  round: number;
}
interface State {
  height: number;
  round: number;
  step: Kind;
  locked: { value: Value; round: number };
  valid: { value: Value; round: number };
  /** First message of each sender, by height, round and kind. */
  log: Record<string, Record<number, Message>>;
  /** Timeouts and rules that have acted in this height. */
  done: Record<string, boolean>;
  rounds: number;
}

const START_MS = 5_000;

export const start: ScriptModule['start'] = ({ nowMs }) =>
  nowMs < START_MS ? { do: 'wake', ms: START_MS - nowMs, note: null } : null;

/** Agents with the script approve the blocks of the network, which are not the subject here. */
export const vote: ScriptModule['vote'] = () => ({ do: 'vote', decision: 'approve' });

export const wake: ScriptFunction = (view) => {
  if (isFaulty(view, view.me.ordinal) && view.parameters.behaviour === 'silent') return null;
  const timeout = view.note as Timeout | null;
  const agent = new Participant(view);
  if (timeout) agent.expire(timeout);
  else agent.startRound(0);
  return agent.commands;
};

export const receive: ScriptFunction = (view) => {
  if (!view.memory.state) return null;
  const agent = new Participant(view);
  agent.take(view.message!.from, view.message!.content as Message);
  agent.act();
  return agent.commands;
};

const isFaulty = ({ groupOf }: ScriptView, agent: number) => groupOf(agent) === 'faulty';
const fresh = { locked: { value: null, round: -1 }, valid: { value: null, round: -1 } };

class Participant {
  readonly commands: ScriptCommand[] = [];
  readonly #view: ScriptView;
  readonly #state: State;
  readonly #size: number;

  constructor(view: ScriptView) {
    this.#view = view;
    this.#size = view.neighbours.length + 1;
    const first = { height: 0, round: 0, step: 'propose', ...fresh, log: {}, done: {}, rounds: 0 };
    view.memory.state ??= first;
    this.#state = view.memory.state as State;
  }

  startRound(round: number): void {
    const { height, valid } = this.#state;
    Object.assign(this.#state, { round, step: 'propose' });
    if (this.#leader(height, round) === this.#view.me.ordinal) {
      const value = valid.value ?? `${height}/${round}`;
      this.#send({ kind: 'propose', height, round, value, support: valid.round });
    } else this.#expect('propose');
    this.act();
  }

  expire({ kind, height, round }: Timeout): void {
    const state = this.#state;
    if (height !== state.height || round !== state.round) return;
    if (kind === 'precommit') this.startRound(round + 1);
    else if (kind === state.step) this.#vote(kind === 'propose' ? 'prevote' : 'precommit', null);
    this.act();
  }

  /** Keeps the first message of each kind from each sender. */
  take(from: number, message: Message): void {
    const { kind, height, round } = message;
    if (height < this.#state.height) return;
    if (kind === 'propose' && from !== this.#leader(height, round)) return;
    const key = kind === 'decided' ? `${height} decided` : `${height} ${kind} ${round}`;
    const known = this.#state.log[key] ?? {};
    known[from] ??= message;
    this.#state.log[key] = known;
  }

  /** Applies the rules until none applies. */
  act(): void {
    while (this.#rules().some((rule) => rule()));
  }

  #rules(): (() => boolean)[] {
    const { height, round, step } = this.#state;
    return [
      () => this.#decide(),
      () => this.#catchUp(),
      () => step === 'propose' && this.#prevote(),
      () => step !== 'propose' && this.#precommit(),
      () => this.#wait('prevote', step === 'prevote'),
      () => this.#wait('precommit', true),
      () => step === 'prevote' && this.#has('prevote', height, round, null) && this.#skip(),
    ];
  }

  #prevote(): boolean {
    const { height, round, locked } = this.#state;
    const proposal = this.#proposal(round);
    if (!proposal) return false;
    const { value, support = -1 } = proposal;
    if (support >= 0 && !(support < round && this.#has('prevote', height, support, value))) {
      return false;
    }
    const free = locked.round <= support || locked.value === value;
    return this.#vote('prevote', free ? value : null);
  }

  #precommit(): boolean {
    const { height, round, step } = this.#state;
    const value = this.#proposal(round)?.value ?? null;
    if (value === null || !this.#has('prevote', height, round, value)) return false;
    if (!this.#once(`polka ${round}`)) return false;
    this.#state.valid = { value, round };
    if (step !== 'prevote') return true;
    this.#state.locked = { value, round };
    return this.#vote('precommit', value);
  }

  #skip = (): boolean => this.#vote('precommit', null);

  /** Sets a timeout once a quorum of any votes has arrived. */
  #wait(kind: 'prevote' | 'precommit', applies: boolean): boolean {
    const { height, round } = this.#state;
    const votes = this.#votes(kind, height, round).length;
    if (!applies || votes < this.#quorum || !this.#once(`${kind} ${round}`)) return false;
    this.#expect(kind);
    return true;
  }

  #decide(): boolean {
    const { height, log, round } = this.#state;
    const told = Object.values(log[`${height} decided`] ?? {}).map(({ value }) => value);
    const known = told.find((value) => count(told, value) > this.#faults) ?? null;
    const value = known ?? this.#committed();
    if (value === null) return false;
    this.commands.push({ do: 'decide', slot: height, value });
    this.#send({ kind: 'decided', height, round, value });
    for (const key of Object.keys(log)) if (Number.parseInt(key, 10) <= height) delete log[key];
    const rounds = this.#state.rounds + round + 1;
    Object.assign(this.#state, { ...fresh, height: height + 1, done: {}, rounds });
    this.startRound(0);
    return true;
  }

  /** Returns a proposed value with a quorum of precommits, in any round. */
  #committed(): Value {
    const { height, log } = this.#state;
    for (const key of Object.keys(log)) {
      const [at, kind, round] = key.split(' ');
      if (Number(at) !== height || kind !== 'precommit') continue;
      const value = this.#proposal(Number(round))?.value ?? null;
      if (value !== null && this.#has('precommit', height, Number(round), value)) return value;
    }
    return null;
  }

  /** Joins a later round that has been reached by more agents than may be faulty. */
  #catchUp(): boolean {
    const { height, round, log } = this.#state;
    const ahead = new Map<number, Set<string>>();
    for (const [key, messages] of Object.entries(log)) {
      const [at, , its] = key.split(' ');
      if (Number(at) !== height || !(Number(its) > round)) continue;
      const senders = [...(ahead.get(Number(its)) ?? []), ...Object.keys(messages)];
      ahead.set(Number(its), new Set(senders));
    }
    const found = [...ahead].find(([, senders]) => senders.size > this.#faults);
    if (found) this.startRound(found[0]);
    return found !== undefined;
  }

  #vote(kind: 'prevote' | 'precommit', value: Value): boolean {
    const { height, round } = this.#state;
    this.#state.step = kind;
    this.#send({ kind, height, round, value });
    return true;
  }

  /** Takes the message itself, because an agent does not receive its own messages. */
  #send(message: Message): void {
    const { me, neighbours } = this.#view;
    this.take(me.ordinal, message);
    const { height, round, value } = message;
    const lies = isFaulty(this.#view, me.ordinal) && this.#isLed(height, round) && value !== null;
    if (!lies) return void this.commands.push({ do: 'send', content: { ...message } });
    const middle = neighbours.filter((other) => !isFaulty(this.#view, other)).length / 2;
    const half = neighbours.filter((other) => other < middle || isFaulty(this.#view, other));
    const others = neighbours.filter((other) => !half.includes(other));
    const other = { ...message, value: `${value}, or not` };
    this.commands.push({ do: 'send', to: half, content: { ...message } });
    this.commands.push({ do: 'send', to: others, content: other });
  }

  #isLed = (height: number, round: number) => isFaulty(this.#view, this.#leader(height, round));
  #leader = (height: number, round: number) => (height + round) % this.#size;

  #expect(kind: Kind): void {
    const { height, round } = this.#state;
    const ms = Number(this.#view.parameters.timeout_ms) * (round + 1);
    this.commands.push({ do: 'wake', ms, note: { kind, height, round } });
  }

  #once(what: string): boolean {
    const first = this.#state.done[what] === undefined;
    this.#state.done[what] = true;
    return first;
  }

  #proposal(round: number): Message | undefined {
    const { height, log } = this.#state;
    return log[`${height} propose ${round}`]?.[this.#leader(height, round)];
  }

  #votes = (kind: Kind, height: number, round: number): Value[] =>
    Object.values(this.#state.log[`${height} ${kind} ${round}`] ?? {}).map(({ value }) => value);
  #has = (kind: Kind, height: number, round: number, value: Value): boolean =>
    count(this.#votes(kind, height, round), value) >= this.#quorum;

  get #faults(): number {
    return Math.floor((this.#size - 1) / 3);
  }
  get #quorum(): number {
    return Math.floor((2 * this.#size) / 3) + 1;
  }
}

const count = (values: readonly Value[], wanted: Value): number =>
  values.filter((value) => value === wanted).length;

/** Decided heights and mean rounds of a height, in the state of the first agent that has one. */
export const report: ScriptModule['report'] = ({ groups }) => {
  const all = groups.flatMap(({ memories }) => Object.values(memories)) as { state?: State }[];
  const { height = 0, rounds = 0 } = all.find(({ state }) => state)?.state ?? {};
  if (height === 0) return null;
  return { heights: height, rounds_mean: rounds / height };
};
