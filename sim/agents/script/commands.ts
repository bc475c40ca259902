/**
 * The commands that a script, or a decider, can give its agent: the schema of each, told apart by
 * `do`, how it is carried out, and the check that its values are plain data.
 */

import { inspect } from 'node:util';
import { type Static, type TProperties, Type } from '../../../engine/protocol/bundled/typebox.js';
import { canonical } from '../../../engine/protocol/canonical.js';
import { Decision } from '../../../engine/protocol/schema/primitives.js';
import { validator } from '../../../engine/protocol/schema/validator.js';
import { describeAllowed, findSchema } from '../../scenario/schema/common.js';
import {
  activate,
  answerInvitation,
  callToVote,
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
/**
 * What a function of a script gives back: told apart by `do`.
 *
 * @useDeclaredType
 */
export type ScriptCommand = Commands[keyof Commands];

export interface Doing {
  agent: ScriptedAgent;
  world: World;
  block: BlockTalk | undefined;
  round: number;
  alliance: string | undefined;
}

/** About the block of the call; a command without one is a mistake of the script. */
const onBlock = ({ block }: Doing): BlockTalk => {
  if (block) return block;
  throw new TypeError('this is about a block: it can be done in hear and vote only');
};

/** Each is checked when it is given, and done by what that gives. */
const does: { [K in keyof Commands]: (command: Commands[K], doing: Doing) => () => void } = {
  vote({ decision, reason }, doing) {
    const block = onBlock(doing);
    return () => {
      const memes = doing.world.receivedMemes(doing.agent.ordinal, block.hash);
      const said = reason === undefined ? {} : { reason, basis: { by: 'script', reason } as const };
      castVote(doing.agent, doing.world, block, { decision, memes, round: doing.round, ...said });
    };
  },
  meme({ stance, text }, doing) {
    const block = onBlock(doing);
    return () => {
      // Several memes in one call have words of their own each.
      const words = text ?? memeText(block.hash, stance, doing.agent.rng('words'));
      postMeme(doing.agent, doing.world, block, stance, words);
    };
  },
  say({ stance, message }, doing) {
    const block = onBlock(doing);
    return () => postRemark(doing.agent, doing.world, block, stance, message);
  },
  wait({ ms }, doing) {
    const block = onBlock(doing);
    return () => callToVote(doing.agent, doing.world, block, ms, doing.round + 1);
  },
  propose:
    ({ transactions, sound, leave_out }, { agent, world }) =>
    () =>
      produce(agent, world, {
        ...(transactions === undefined ? {} : { transactions }),
        ...(sound === undefined ? {} : { care: sound ? 1 : 0 }),
        ...(leave_out === undefined ? {} : { leaveOut: leave_out }),
      }),
  invite({ agents }, { agent, world }) {
    const stranger = agents.find((other) => other >= world.scenario.population);
    if (stranger !== undefined) throw new TypeError(`there is no agent ${stranger}`);
    return () => invite(agent, world, agents);
  },
  wake:
    ({ ms }, { agent, world }) =>
    () =>
      world.schedule(agent.ordinal, world.now + ms, { type: 'wake' }),
  send({ to, content }, { agent, world }) {
    const neighbours = world.neighbours(agent.ordinal);
    const stranger = to?.find((other) => !neighbours.includes(other));
    if (stranger !== undefined) throw new TypeError(`agent ${stranger} is none of its neighbours`);
    const said = saidOf(content);
    const whom = to ?? neighbours;
    return () => {
      if (whom.length > 0) world.sendTalk(agent.ordinal, whom, said);
    };
  },
  answer({ accept }, { agent, world, alliance }) {
    if (alliance === undefined) throw new TypeError('answer can be done in invited only');
    return () => answerInvitation(agent, world, alliance, accept);
  },
  leave:
    ({ alliance }, { agent, world }) =>
    () =>
      leaveAlliance(agent, world, alliance),
  rest:
    (_, { agent, world }) =>
    () =>
      deactivate(agent, world),
  return:
    (_, { agent, world }) =>
    () =>
      activate(agent, world),
};

/**
 * Checks a command, and gives what does it.
 * @throws {TypeError} saying what is wrong with the command.
 */
export function commandFor(given: unknown, doing: Doing): () => void {
  const name = (given as { do?: unknown } | null)?.do;
  if (typeof name !== 'string' || !Object.hasOwn(scriptCommands, name)) {
    const expected = `expected { do: ${Object.keys(scriptCommands).join(' | ')} }`;
    throw new TypeError(`it gave ${shown(given)}; ${expected}`);
  }
  const kind = name as keyof Commands;
  const problem = checks[kind](given);
  if (problem) {
    const path = problem.pointer.split('/').slice(1);
    const wanted = describeAllowed(findSchema(scriptCommands[kind], path) ?? scriptCommands[kind]);
    throw new TypeError(`it gave ${shown(given)}; expected for ${path.join('.')} ${wanted}`);
  }
  const doneBy = does[kind] as (command: unknown, doing: Doing) => () => void;
  return doneBy(given, doing);
}

function shown(value: unknown): string {
  try {
    return (JSON.stringify(value) ?? String(value)).slice(0, 100);
  } catch {
    return 'something that is no JSON';
  }
}

/** Freezes a value that holds plain data, and all that is in it. */
export function deepFrozen<T>(value: T): T {
  const kept = typeof value !== 'object' || value === null || Object.isFrozen(value);
  // A view of bytes cannot be frozen.
  if (kept || ArrayBuffer.isView(value)) return value;
  Object.freeze(value);
  for (const inner of Object.values(value)) deepFrozen(inner);
  return value;
}

/** A message is a remark, an opinion, a price: what is longer is something else. */
const LONGEST_MESSAGE_BYTES = 1_024;

/** @throws {TypeError} when it is no plain data, or too long. */
function saidOf(content: unknown): TalkContent {
  const strange = strangeIn(content);
  if (strange !== null) {
    throw new TypeError(`its message holds ${strange}; expected what JSON can say`);
  }
  const text = canonical(content);
  const bytes = Buffer.byteLength(text);
  if (bytes > LONGEST_MESSAGE_BYTES) {
    const limit = `expected at most ${LONGEST_MESSAGE_BYTES} as canonical JSON`;
    throw new TypeError(`its message has ${bytes} bytes; ${limit}`);
  }
  return { content: deepFrozen(JSON.parse(text) as unknown), bytes };
}

/** Nothing that fits into a message is deeper. */
const DEEPEST = LONGEST_MESSAGE_BYTES / 2;

/** The first thing in it that JSON would drop, change or cannot hold; null where there is none. */
function strangeIn(value: unknown, depth = 0): string | null {
  if (depth > DEEPEST) return 'itself, or too many lists in each other';
  if (typeof value === 'number') return Number.isFinite(value) ? null : String(value);
  if (typeof value === 'string') return value.isWellFormed() ? null : 'half of a character';
  if (typeof value === 'boolean' || value === null) return null;
  if (typeof value !== 'object') return typeof value;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null && !Array.isArray(value)) {
    return `a ${value.constructor?.name ?? 'thing'}`;
  }
  for (const inner of Object.values(value)) {
    const strange = strangeIn(inner, depth + 1);
    if (strange !== null) return strange;
  }
  return null;
}

const about = (description: string) => ({ description });
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

/** By name; `vote`, `meme`, `say` and `wait` are about the block of the call. */
export const scriptCommands = {
  vote: command('vote', 'votes on the block', {
    decision: Stance('what it votes'),
    reason: Type.Optional(Text('why; else a sentence about its soundness')),
  }),
  meme: command('meme', 'posts a meme about the block', {
    stance: Stance('what it speaks for'),
    text: Type.Optional(Text('what it says; else a saying drawn by chance')),
  }),
  say: command('say', 'makes a remark about the block', {
    stance: Stance('what it speaks for'),
    message: Text('what it says'),
  }),
  wait: command('wait', 'calls `vote` for the block, again, after a while', {
    ms: whole(1, 3_600_000, 'how long'),
  }),
  propose: command('propose', 'proposes a block, unless it knows of one in voting on the head', {
    transactions: Type.Optional(whole(0, 1_000, 'how many; else drawn by the scenario')),
    sound: Type.Optional(
      Type.Boolean(about("whether they add up; else by the personality's care")),
    ),
    leave_out: Type.Optional(Type.String(about('a group whose transactions stay out'))),
  }),
  invite: command('invite', 'founds an alliance', {
    agents: Type.Array(Type.Integer({ minimum: 0 }), {
      minItems: 1,
      maxItems: 31,
      ...about('ordinals of whom it invites'),
    }),
  }),
  answer: command('answer', 'answers the invitation, in `invited`', {
    accept: Type.Boolean(about('whether it joins')),
  }),
  leave: command('leave', 'leaves an alliance', { alliance: Type.String(about('its id')) }),
  send: command('send', 'sends a message to neighbours, whose `receive` is called', {
    to: Type.Optional(
      Type.Array(Type.Integer({ minimum: 0 }), {
        uniqueItems: true,
        ...about('ordinals of neighbours; left out, all of them'),
      }),
    ),
    content: Type.Unknown(
      about(`plain data, of at most ${LONGEST_MESSAGE_BYTES} bytes as canonical JSON`),
    ),
  }),
  wake: command('wake', 'calls `wake` after a while', { ms: whole(1, 86_400_000, 'how long') }),
  rest: command('rest', 'goes away for a while, by its status', {}),
  return: command('return', 'comes back', {}),
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

/** A script may throw anything: none of its own code runs to show it. */
const causeText = (cause: unknown): string =>
  typeof cause === 'string' ? cause : inspect(cause, { customInspect: false, depth: 1 });
