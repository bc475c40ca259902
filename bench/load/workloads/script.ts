/**
 * Requests that a module chooses, in the sandbox of decision rules: without clock, network and
 * files, and with limits of work and memory. Iterations are drafted ahead, so that a slow module
 * does not delay the schedule. After a failed call, which is a failed arrival, the state is that
 * after `setup`.
 */
import {
  type TObject,
  type TProperties,
  Type,
  Value,
} from '../../../engine/protocol/bundled/typebox.js';
import type { Machine, Snapshot } from '../../../engine/rules/machine.js';
import { RuleError } from '../../../engine/rules/rule.js';
import { createMachines } from '../../../engine/rules/sandbox.js';
import { describeAllowed } from '../../../sim/scenario/schema/common.js';
import type { Agent, AgentPool } from '../agents.js';
import { loadError } from '../messages.js';
import type { Scenario } from '../options.js';
import type { CallOutcome, Expected, Source } from '../workload.js';
import { type Draft, Drafts } from './drafts.js';

const action = <N extends string, M extends TProperties>(name: N, what: string, members: M) =>
  Type.Object(
    { do: Type.Literal(name), ...members },
    { additionalProperties: false, description: what },
  );
const text = (most: number, description: string) =>
  Type.String({ minLength: 1, maxLength: most, description });

/** Actions that an iteration can return. */
const actions = {
  get: action('get', 'a read', {
    path: Type.String({ pattern: '^/api/v1/', maxLength: 2_000, description: 'path to read' }),
  }),
  status: action('status', 'a status change', { reason: text(500, 'reason of the status') }),
  meme: action('meme', 'a meme', {
    text: text(50_000, 'content of the file'),
    caption: Type.Optional(text(200, 'caption')),
  }),
  vote: action('vote', 'a vote on the open block', {}),
} as const;

/** Work limits of the calls, in iterations of loops, each of which takes 5 to 75 ns. */
const fuel = { load: 5_000_000, setup: 20_000_000, iterate: 200_000, unit: 100 } as const;

/** Iterations that are drafted at a time, and at most ahead. A larger group delays the schedule. */
const GROUP = 16;
const MOST_AHEAD = 4_096;

/** A module in its sandbox. */
export class Script {
  readonly #file: string;
  readonly #create: () => Machine;
  #machine: Machine;
  /** Memory after `setup`. */
  #ready: Snapshot = [];
  #setup: unknown = null;
  #setsUp = false;
  #responds = false;
  #tearsDown = false;

  private constructor(file: string, create: () => Machine) {
    this.#file = file;
    this.#create = create;
    this.#machine = create();
  }

  /** Loads a module, without a call of its functions. @throws {Failure} `SCRIPT_INVALID` */
  static async load({ file, source }: { file: string; source: string }): Promise<Script> {
    const script = new Script(file, await createMachines());
    const loaded = script.#try(() => script.#machine.load(source, fuel.load));
    const members = 'value' in loaded ? (loaded.value as Record<string, unknown>) : {};
    if (!('value' in loaded)) throw loadError('SCRIPT_INVALID', { file, reason: loaded.reason });
    const { iterate, respond, teardown } = members as Record<string, { function?: true }>;
    script.#responds = respond?.function === true;
    script.#tearsDown = teardown?.function === true;
    if (!iterate?.function) {
      const reason = 'no iterate(agent, view) in its default export';
      throw loadError('SCRIPT_INVALID', { file, reason });
    }
    script.#setsUp = members.setup !== undefined;
    return script;
  }

  /** Calls `setup`, if the module has it. @throws {Failure} `SCRIPT_INVALID` */
  setUp(view: object): void {
    if (this.#setsUp) {
      const made = this.#call('setup', [view], fuel.setup, '');
      const file = this.#file;
      if (!('value' in made)) throw loadError('SCRIPT_INVALID', { file, reason: made.reason });
      this.#setup = made.value;
    }
    this.#ready = this.#machine.snapshot();
  }

  get responds(): boolean {
    return this.#responds;
  }

  iterate(agent: Agent, view: object, seed: string): Draft {
    return this.#draft('iterate', [describeAgent(agent)], view, seed)!;
  }

  /** Returns the request that follows a response; null if none does. */
  respond(agent: Agent, outcome: CallOutcome, view: object, seed: string): Draft | null {
    const values = [describeAgent(agent), describeOutcome(outcome)];
    const draft = this.#draft('respond', values, view, seed);
    if (draft === null || draft.do === 'get' || draft.do === 'meme') return draft;
    if (draft.do === 'fail') return draft;
    return { do: 'fail', reason: `respond returned ${draft.do} (expected get or meme)` };
  }

  #draft(name: 'iterate' | 'respond', values: unknown[], view: object, seed: string): Draft | null {
    const whole = { ...view, setup: this.#setup };
    const made = this.#call(name, [...values, whole], fuel.iterate, seed);
    if (!('value' in made)) return { do: 'fail', reason: made.reason };
    if (name === 'respond' && made.value === null) return null;
    const action = made.value as { do?: string } | null;
    const schema = Object.hasOwn(actions, action?.do ?? '')
      ? actions[action!.do as keyof typeof actions]
      : null;
    if (schema && Value.Check(schema, action)) return action as Draft;
    const wanted = schema
      ? describeWrong(schema, action)
      : `do: ${Object.keys(actions).join(', ')}`;
    return { do: 'fail', reason: `${name} returned ${shown(action)} (expected ${wanted})` };
  }

  /** Calls `teardown`, if the module has it. Returns the reason of a failure, or null. */
  teardown(view: object): string | null {
    if (!this.#tearsDown) return null;
    const made = this.#call('teardown', [{ ...view, setup: this.#setup }], fuel.setup, '');
    return 'value' in made ? null : made.reason;
  }

  #call(name: string, values: readonly unknown[], work: number, seed: string) {
    const request = JSON.stringify(['call', name, values]);
    const limit = work + fuel.unit * request.length;
    return this.#try(() => this.#machine.call(request, limit, seed));
  }

  /** Returns the value of a reply, or the reason of the failure. */
  #try(run: () => string): { value: unknown } | { reason: string } {
    try {
      const reply = run();
      if (reply[0] === 'V') return { value: JSON.parse(reply.slice(1) || 'null') as unknown };
      const thrown = reply[0] === 'T' ? this.#machine.call('thrown', fuel.load, null) : reply;
      return { reason: describe(thrown) };
    } catch (error) {
      if (!(error instanceof RuleError)) throw error;
      this.#machine = this.#create();
      this.#machine.restore(this.#ready);
      return { reason: limits[error.fault] ?? error.message };
    }
  }
}

const limits: Record<string, string> = {
  RULE_TIMEOUT: 'exceeds its limit of work',
  RULE_MEMORY: 'exceeds its limit of memory',
  RULE_VERDICT: 'returns too much',
};

/** Keeps the message and the line of an exception. */
function describe(reply: string): string {
  if (reply[0] === 'M') return limits.RULE_MEMORY!;
  const [message = '', ...stack] = reply.slice(1).split('\n');
  const line = /\brule:(\d+)/.exec(stack.join('\n'))?.[1];
  return (line === undefined ? message : `${message} (line ${line})`).slice(0, 64);
}

const describeAgent = ({ ordinal, id, publicKey }: Agent) => {
  return { ordinal, id, public_key: publicKey };
};

/** Longest data of a response that a module sees, in characters of JSON. */
const MOST_DATA = 65_536;

function describeOutcome(outcome: CallOutcome) {
  const { kind, data, ...rest } = { status: 0, code: null, reason: null, data: null, ...outcome };
  const isKnown = JSON.stringify(data ?? null).length <= MOST_DATA;
  return { ...rest, accepted: kind === 'accepted', data: isKnown ? (data ?? null) : null };
}

/** Describes what the first wrong member of an action should be. */
function describeWrong(schema: TObject, action: unknown): string {
  const [error] = Value.Errors(schema, action);
  const member = error?.instancePath.split('/')[1] ?? '';
  const wanted = schema.properties[member];
  return wanted ? `${member}: ${describeAllowed(wanted)}` : describeAllowed(schema);
}

const shown = (value: unknown) => (JSON.stringify(value) ?? 'nothing').slice(0, 40);

interface ScriptSetting {
  script: Script;
  pool: AgentPool;
  agents: readonly Agent[];
  expected: Expected;
  votes: Source | null;
}

/** Sets up the module of a scenario. @throws {Failure} `SCRIPT_INVALID` */
export async function openScript(
  { name, script: plan }: Scenario,
  { script, pool, agents, expected, votes }: ScriptSetting,
): Promise<Source & { close(): void }> {
  const { rows } = plan!;
  const { seed } = pool.context.options;
  const run = { scenario: name, agents: pool.agents.length };
  script.setUp(run);
  const source = new Drafts(pool, {
    ...{ agents, expected, votes, group: GROUP, most: MOST_AHEAD },
    draft: (iteration, agent) => {
      const data = rows.length > 0 ? rows[iteration % rows.length] : null;
      return script.iterate(agent, { ...run, iteration, data }, `${seed}/${name}/${iteration}`);
    },
    ...(script.responds
      ? {
          follow: (iteration, agent, outcome) =>
            script.respond(agent, outcome, { ...run, iteration }, `${seed}/${name}/${iteration}`),
        }
      : {}),
  });
  await source.prepared();
  return {
    next: (intendedMs) => source.next(intendedMs),
    waitsFor: () => source.waitsFor(),
    drain: (signal) => source.drain(signal),
    close() {
      const reason = script.teardown(run);
      if (reason !== null) pool.progress(`teardown of the module of ${name} failed: ${reason}`);
    },
  };
}
