/**
 * Commands that scripts and deciders return: each command's schema, its implementation, and the
 * check that its values are plain data. The member `do` distinguishes commands.
 */
import { inspect } from 'node:util';
import { type Static, type TProperties, Type } from '../../../engine/protocol/bundled/typebox.js';
import { canonical } from '../../../engine/protocol/canonical.js';
import { Decision } from '../../../engine/protocol/schema/primitives.js';
import { validator } from '../../../engine/protocol/schema/validator.js';
import { BALLOT_BYTES } from '../../../engine/rules/ballots.js';
import { about, describeAllowed, findSchema, OptionNames } from '../../scenario/schema/common.js';
import { LONGEST_REASON } from '../../scenario/schema/deliberation.js';
import {
  activate,
  answerInvitation,
  callToVote,
  callToWake,
  castVote,
  deactivate,
  invite,
  leaveAlliance,
  memeText,
  postMeme,
  postRemark,
  produce,
} from '../actions.js';
import type { BlockTalk, ScriptedAgent, TalkContent, World } from '../port.js';

type Commands = { [K in keyof typeof scriptCommands]: Static<(typeof scriptCommands)[K]> };
/** Command returned by a script function. `do` distinguishes commands. @useDeclaredType */
export type ScriptCommand = Commands[keyof Commands];

export interface Doing {
  agent: ScriptedAgent;
  world: World;
  block: BlockTalk | undefined;
  /** Number of `wait` commands that led to the call. Selects the random draws of the call. */
  draw: number;
  alliance: string | undefined;
}

/** Returns the call's block. Only `hear` and `vote` have one. */
const blockOf = ({ block }: Doing): BlockTalk => {
  if (block) return block;
  throw new TypeError('no block to act on; name a block, or use this command in hear or vote');
};

/**
 * Returns a function that acts on the named block, by default on the call's block. The function has
 * no effect if the agent does not know the named block as a block in voting.
 */
function onBlock(
  hash: string | undefined,
  doing: Doing,
  act: (block: BlockTalk) => void,
): () => void {
  if (hash === undefined) {
    const block = blockOf(doing);
    return () => act(block);
  }
  const { world, agent } = doing;
  const { ordinal } = agent;
  return () => {
    const block = world.block(ordinal, hash);
    if (block && !world.knowsClosed(ordinal, hash)) act(block);
    else world.ignored(ordinal, 'BLOCK_NOT_OPEN', `block ${hash.slice(0, 64)}`);
  };
}

/** Implementations by command. Each validates it and returns a function that performs it. */
const does: { [K in keyof Commands]: (command: Commands[K], doing: Doing) => () => void } = {
  vote({ decision, reason, ballot, block: hash }, doing) {
    const cast = ballot === undefined ? {} : { ballot: copyBallot(ballot, hash, doing) };
    return onBlock(hash, doing, (block) => {
      const memes = doing.world.receivedMemes(doing.agent.ordinal, block.hash);
      const said = reason === undefined ? {} : { reason, basis: { by: 'script', reason } as const };
      const vote = { decision, memes, round: doing.draw, ...said, ...cast };
      castVote(doing.agent, doing.world, block, vote);
    });
  },
  meme: ({ stance, text, block: hash }, doing) =>
    onBlock(hash, doing, (block) => {
      // Draw the words from a separate stream, so that several memes in one call differ.
      const words = text ?? memeText(block.hash, stance, doing.agent.rng('words'));
      postMeme(doing.agent, doing.world, block, stance, words);
    }),
  say: ({ stance, message, block: hash }, doing) =>
    onBlock(hash, doing, (block) => postRemark(doing.agent, doing.world, block, stance, message)),
  state(given, doing) {
    const { agent, world } = doing;
    const block = blockOf(doing);
    if (agent.strategy.stating) return agent.strategy.stating(agent, world, block, given);
    throw new TypeError('no deliberation; use state in deliberate only');
  },
  wait({ ms }, doing) {
    const block = blockOf(doing);
    return () => callToVote(doing.agent, doing.world, block, ms, doing.draw + 1);
  },
  propose({ transactions, sound, leave_out: leaveOut, options }, { agent, world }) {
    const care = sound === undefined ? undefined : Number(sound);
    return () => produce(agent, world, { transactions, care, leaveOut, options });
  },
  invite({ agents }, { agent, world }) {
    const stranger = agents.find((other) => other >= world.scenario.population);
    if (stranger !== undefined) throw new TypeError(`unknown agent: ${stranger}`);
    return () => invite(agent, world, agents);
  },
  wake({ ms, name, note }, { agent, world }) {
    const data = note === undefined ? null : plainData(note, 'note');
    if (data && data.bytes > LARGEST_DATA_BYTES) {
      return () => world.ignored(agent.ordinal, 'NOTE_TOO_LARGE', `note of ${data.bytes} bytes`);
    }
    return () => callToWake(agent, world, ms, { type: 'wake', name, note: data?.content });
  },
  cancel({ name }, { agent, world }) {
    return () => {
      if (agent.timers?.delete(name)) return;
      world.ignored(agent.ordinal, 'UNKNOWN_WAKE', `wake ${JSON.stringify(name)}`);
    };
  },
  decide({ slot, value, tolerance = null }, { agent, world }) {
    const { text, bytes } = plainData(value, 'value');
    if (tolerance !== null && !Number.isSafeInteger(value)) {
      throw new TypeError(`invalid value: ${oneLine(text)}; expected an integer with a tolerance`);
    }
    return () => {
      if (bytes > LARGEST_DATA_BYTES) {
        world.ignored(agent.ordinal, 'VALUE_TOO_LARGE', `value of ${bytes} bytes`);
        return;
      }
      const honest = agent.strategy.honest !== false;
      world.decide(agent.ordinal, { slot: canonical(slot), value: text, tolerance, honest });
    };
  },
  send({ to, content }, { agent, world }) {
    const neighbours = world.neighbours(agent.ordinal);
    const stranger = to?.find((other) => !neighbours.includes(other));
    if (stranger !== undefined) throw new TypeError(`not a neighbour: agent ${stranger}`);
    const said = plainData(content, 'message content');
    if (said.bytes > LARGEST_DATA_BYTES) {
      const limit = `expected at most ${LARGEST_DATA_BYTES} as canonical JSON`;
      throw new TypeError(`message too large: ${said.bytes} bytes (${limit})`);
    }
    const whom = to ?? neighbours;
    return () => {
      if (whom.length > 0) world.sendTalk(agent.ordinal, whom, said);
    };
  },
  answer({ accept }, { agent, world, alliance }) {
    if (alliance === undefined)
      throw new TypeError('no invitation to answer; use this command in invited only');
    return () => answerInvitation(agent, world, alliance, accept);
  },
  leave({ alliance }, { agent, world }) {
    return () => leaveAlliance(agent, world, alliance);
  },
  rest(_, { agent, world }) {
    return () => deactivate(agent, world);
  },
  return(_, { agent, world }) {
    return () => activate(agent, world);
  },
};

/**
 * Returns a frozen copy of a ballot that the network's rule accepts for the block.
 * @throws {TypeError} with the position of the problem.
 */
function copyBallot(given: unknown, hash: string | undefined, doing: Doing): unknown {
  const { content: ballot, bytes } = plainData(given, 'ballot');
  if (bytes > BALLOT_BYTES) {
    throw new TypeError(`ballot too large: ${bytes} bytes; use at most ${BALLOT_BYTES}`);
  }
  const { agent, world } = doing;
  const block = hash === undefined ? blockOf(doing) : world.block(agent.ordinal, hash);
  if (!block) return ballot;
  const found = world.rule.findBallotProblem(ballot, block);
  if (!found) return ballot;
  const at = found.pointer === '' ? 'it' : found.pointer;
  throw new TypeError(`invalid ballot: ${shown(ballot)}; ${at} ${found.problem}`);
}

/** Returns the function that performs a valid command. @throws {TypeError} with the problem. */
export function commandFor(given: unknown, doing: Doing): () => void {
  const name = (given as { do?: unknown } | null)?.do;
  if (typeof name !== 'string' || !Object.hasOwn(scriptCommands, name)) {
    const expected = `expected { do: ${Object.keys(scriptCommands).join(' | ')} }`;
    throw new TypeError(`invalid command: ${shown(given)}; ${expected}`);
  }
  const kind = name as keyof Commands;
  const problem = checks[kind](given);
  if (problem) {
    const path = problem.pointer.split('/').slice(1);
    const wanted = describeAllowed(findSchema(scriptCommands[kind], path) ?? scriptCommands[kind]);
    throw new TypeError(
      `invalid command: ${shown(given)}; expected ${path.join('.')} to be ${wanted}`,
    );
  }
  const doneBy = does[kind] as (command: unknown, doing: Doing) => () => void;
  return doneBy(given, doing);
}

function shown(value: unknown): string {
  try {
    return (JSON.stringify(value) ?? String(value)).slice(0, 100);
  } catch {
    return 'not JSON';
  }
}

/** Freezes a plain data value recursively. */
export function deepFrozen<T>(value: T): T {
  const kept = typeof value !== 'object' || value === null || Object.isFrozen(value);
  // Typed arrays cannot be frozen.
  if (kept || ArrayBuffer.isView(value)) return value;
  Object.freeze(value);
  for (const inner of Object.values(value)) deepFrozen(inner);
  return value;
}

/** Size limit of messages and notes, which carry remarks, opinions or prices. */
const LARGEST_DATA_BYTES = 1_024;

/**
 * Returns a frozen copy of plain data, with its canonical text and size.
 * @throws {TypeError} if the value is not plain data.
 */
function plainData(value: unknown, what: string): TalkContent & { text: string } {
  const strange = strangeIn(value);
  if (strange !== null) throw new TypeError(`invalid ${what}: ${strange}; expected JSON values`);
  const text = canonical(value);
  const content = deepFrozen(JSON.parse(text) as unknown);
  return { content, bytes: Buffer.byteLength(text), text };
}

/** Nesting limit. Deeper values exceed the size limit. */
const DEEPEST = LARGEST_DATA_BYTES / 2;

/**
 * Describes the first value that JSON would drop, change or reject. Returns null if there is none.
 */
function strangeIn(value: unknown, depth = 0): string | null {
  if (depth > DEEPEST) return 'a cycle, or too deep nesting';
  if (typeof value === 'number') return Number.isFinite(value) ? null : String(value);
  if (typeof value === 'string') return value.isWellFormed() ? null : 'an unpaired surrogate';
  if (typeof value === 'boolean' || value === null) return null;
  if (typeof value !== 'object') return typeof value;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null && !Array.isArray(value)) {
    return `a ${value.constructor?.name ?? 'value'}`;
  }
  for (const inner of Object.values(value)) {
    const strange = strangeIn(inner, depth + 1);
    if (strange !== null) return strange;
  }
  return null;
}

const Text = (description: string) =>
  Type.String({ minLength: 1, maxLength: 1_000, ...about(description) });
const whole = (minimum: number, maximum: number, description: string) =>
  Type.Integer({ minimum, maximum, ...about(description) });
const Stance = (description: string) => Type.Enum([...Decision.enum], about(description));

const command = <K extends string, P extends TProperties>(name: K, description: string, own: P) =>
  Type.Object({ do: Type.Literal(name), ...own } as const, {
    additionalProperties: false,
    description,
  });

const TimerName = (description: string) =>
  Type.String({ minLength: 1, maxLength: 100, ...about(description) });
const NamedBlock = Type.Optional(
  Type.String(about("hash of a block in voting; default: the call's block")),
);

export const scriptCommands = {
  vote: command('vote', 'votes on the block', {
    decision: Stance('decision'),
    reason: Type.Optional(Text('reason; default: a sentence about the soundness')),
    ballot: Type.Optional(
      Type.Unknown(about("ballot for the network's rule, at most 2048 bytes; see rules.md")),
    ),
    block: NamedBlock,
  }),
  meme: command('meme', 'posts a meme about the block', {
    stance: Stance('stance of the meme'),
    text: Type.Optional(Text('content; default: a random phrase')),
    block: NamedBlock,
  }),
  say: command('say', 'makes a remark about the block', {
    stance: Stance('stance of the remark'),
    message: Text('text'),
    block: NamedBlock,
  }),
  state: command('state', 'states a value in a deliberation, in `deliberate`', {
    value: Type.Unknown(about('value of the kind that the scenario asks for')),
    reason: Type.Optional(
      Type.String({ maxLength: LONGEST_REASON, ...about('reason, for the other participants') }),
    ),
    note: Type.Optional(
      Type.String({ maxLength: 4_000, ...about('private note; recorded, and not sent') }),
    ),
    stop: Type.Optional(Type.Boolean(about('true to end the deliberation, with until: votes'))),
  }),
  wait: command('wait', 'calls `vote` for the block again after a delay', {
    ms: whole(1, 3_600_000, 'delay'),
  }),
  propose: command(
    'propose',
    'proposes a block, unless the agent knows one in voting on the head',
    {
      transactions: Type.Optional(
        whole(0, 1_000, "number of transactions; default: drawn from the scenario's range"),
      ),
      sound: Type.Optional(
        Type.Boolean(about("true for sound transactions; default: by the personality's care")),
      ),
      leave_out: Type.Optional(Type.String(about('group whose transactions are excluded'))),
      options: Type.Optional(
        OptionNames("names of the block's options; default: `producers.options` of the scenario"),
      ),
    },
  ),
  invite: command('invite', 'proposes an alliance', {
    agents: Type.Array(Type.Integer({ minimum: 0 }), {
      minItems: 1,
      maxItems: 31,
      ...about('ordinals of the invited agents'),
    }),
  }),
  answer: command('answer', 'answers an invitation, in `invited`', {
    accept: Type.Boolean(about('true to join')),
  }),
  leave: command('leave', 'leaves an alliance', { alliance: Type.String(about('alliance id')) }),
  send: command('send', 'sends a message to neighbours, which calls their `receive`', {
    to: Type.Optional(
      Type.Array(Type.Integer({ minimum: 0 }), {
        uniqueItems: true,
        ...about('ordinals of neighbours; default: all'),
      }),
    ),
    content: Type.Unknown(
      about(`plain data, at most ${LARGEST_DATA_BYTES} bytes as canonical JSON`),
    ),
  }),
  wake: command('wake', 'calls `wake` after a delay', {
    ms: whole(1, 86_400_000, 'delay'),
    name: Type.Optional(TimerName('replaces a pending call with the same name')),
    note: Type.Optional(
      Type.Unknown(about(`plain data for the call, at most ${LARGEST_DATA_BYTES} bytes`)),
    ),
  }),
  cancel: command('cancel', 'cancels a pending call of `wake`', {
    name: TimerName('name given in `wake`'),
  }),
  decide: command('decide', "states the agent's decision for a slot of its protocol", {
    slot: Type.Union(
      [
        Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
        Type.String({ minLength: 1, maxLength: 100 }),
      ],
      about('slot, such as a height or a block hash'),
    ),
    value: Type.Unknown(about(`plain data, at most ${LARGEST_DATA_BYTES} bytes`)),
    tolerance: Type.Optional(
      whole(
        0,
        Number.MAX_SAFE_INTEGER,
        'largest permitted difference of two decisions, if the value is an integer; default: 0',
      ),
    ),
  }),
  rest: command('rest', 'sets the status to inactive or maintenance', {}),
  return: command('return', 'sets the status to active', {}),
};

const checks = Object.fromEntries(
  Object.entries(scriptCommands).map(([name, schema]) => [
    name,
    validator(`script_${name}`, schema),
  ]),
) as Record<keyof Commands, ReturnType<typeof validator>>;

const LONGEST = 500;

export function oneLine(cause: unknown): string {
  const text = cause instanceof Error ? cause.message : causeText(cause);
  return text.replace(/\s+/g, ' ').trim().slice(0, LONGEST);
}

/** Formats an error. A script may throw any value; formatting must not run the script's code. */
const causeText = (cause: unknown): string =>
  typeof cause === 'string' ? cause : inspect(cause, { customInspect: false, depth: 1 });
