/** What a script can have its agent do, and how it is done. */
import { type Static, validator } from '../../../../engine/internal.js';
import { allowed, schemaAt } from '../../../scenario/schema/describe.js';
import { memeText } from '../../actions/content.js';
import { produce } from '../../actions/produce.js';
import { answer, comeBack, goAway, invite, leave } from '../../actions/social.js';
import { callToVote, castVote, postMeme, speak } from '../../actions/voting.js';
import type { ScriptedAgent } from '../../port/agent.js';
import type { BlockTalk } from '../../port/known.js';
import type { World } from '../../port/world.js';
import { saidOf } from '../plain-data.js';
import { scriptCommands as commands } from './schemas.js';

type Commands = { [K in keyof typeof commands]: Static<(typeof commands)[K]> };
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
    return () => speak(doing.agent, doing.world, block, stance, message);
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
      if (whom.length > 0) world.tell(agent.ordinal, whom, said);
    };
  },
  answer({ accept }, { agent, world, alliance }) {
    if (alliance === undefined) throw new TypeError('answer can be done in invited only');
    return () => answer(agent, world, alliance, accept);
  },
  leave:
    ({ alliance }, { agent, world }) =>
    () =>
      leave(agent, world, alliance),
  rest:
    (_, { agent, world }) =>
    () =>
      goAway(agent, world),
  return:
    (_, { agent, world }) =>
    () =>
      comeBack(agent, world),
};

const checks = new Map<string, ReturnType<typeof validator>>();

/**
 * Checks a command, and gives what does it.
 * @throws {TypeError} saying what is wrong with the command.
 */
export function commandFor(given: unknown, doing: Doing): () => void {
  const name = (given as { do?: unknown } | null)?.do;
  if (typeof name !== 'string' || !Object.hasOwn(commands, name)) {
    const expected = `expected { do: ${Object.keys(commands).join(' | ')} }`;
    throw new TypeError(`it gave ${shown(given)}; ${expected}`);
  }
  const kind = name as keyof Commands;
  const check = checks.get(kind) ?? validator(commands[kind]);
  checks.set(kind, check);
  const problem = check(given);
  if (problem) {
    const path = problem.pointer.split('/').slice(1);
    const wanted = allowed(schemaAt(commands[kind], path) ?? commands[kind]);
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
