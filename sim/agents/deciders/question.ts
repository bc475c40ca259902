/**
 * Questions to external deciders and their answers, with the limits of an answer and the JSON
 * Schema, docs/deciders.schema.json. A question is what a script would see, as plain data that
 * begins and ends with the question. It names blocks by producer and number, so that what an agent
 * sees is the same in a fork until something that it sees is another.
 */

import { type Static, type TProperties, Type } from '../../../engine/protocol/bundled/typebox.js';
import { canonical } from '../../../engine/protocol/canonical.js';
import { Decision } from '../../../engine/protocol/schema/primitives.js';
import { validator } from '../../../engine/protocol/schema/validator.js';
import { sha256Hex } from '../../../engine/protocol/signing.js';
import { occasions } from '../../scenario/schema/strategies.js';
import type { BlockTalk, ScriptedAgent, World } from '../port.js';
import { commandFor, type Doing, oneLine, scriptCommands } from '../script/commands.js';
import type { CalledFunction, Occasion } from '../script/interface.js';

/** Which question of a run it is. */
interface Address {
  /** Ordinal. */
  agent: number;
  kind: CalledFunction;
  /** Counts the questions of this kind to the agent, from 0. */
  number: number;
}

export interface Question extends Address {
  /** Names it among all of a run. */
  id: string;
  view: unknown;
  /** SHA-256 of the view as canonical JSON. */
  saw: string;
}

/** What is kept of an agent from question to question. */
interface Kept {
  parameters: Readonly<Record<string, unknown>>;
  memory: unknown;
}

export const formatName = ({ agent, kind, number }: Address): string =>
  `${agent}/${kind}/${number}`;

export function createQuestion(
  address: Address,
  agent: ScriptedAgent,
  world: World,
  occasion: Occasion,
  kept: Kept,
): Question {
  const id = formatName(address);
  const text = canonical({
    ...viewOf(agent, world, occasion, kept),
    chance: chanceOf(world.seedNumber, id),
  });
  return { ...address, id, view: JSON.parse(text), saw: sha256Hex(text) };
}

/** For a decider that draws: the same question of the same run has the same chance. */
const chanceOf = (seedNumber: number, id: string): number =>
  Number.parseInt(sha256Hex(`folkmoot/chance/${seedNumber}/${id}`).slice(0, 8), 16);

function viewOf(
  agent: ScriptedAgent,
  world: World,
  { block, round = 0, alliance, message }: Occasion,
  { parameters, memory }: Kept,
) {
  const { ordinal, name, group, personalityName: personality } = agent;
  const { contested, own } = world.head(ordinal);
  const allianceOf = (id: string) => ({ id, members: [...world.membersOf(id)] });
  return {
    now_ms: world.now - world.startMs,
    me: { ordinal, name, group: group.group, personality },
    on_break: agent.onBreak,
    reputation: world.reputationOf(ordinal),
    neighbours: [...world.neighbours(ordinal)],
    alliances: world.alliancesOf(ordinal).map(allianceOf),
    head: { contested, own },
    block: block ? blockOf(ordinal, world, block) : null,
    round,
    invitation: alliance === undefined ? null : allianceOf(alliance),
    message: message
      ? { from: message.from, group: world.groupOf(message.from), content: message.content }
      : null,
    parameters,
    memory,
  };
}

function blockOf(agent: number, world: World, block: BlockTalk) {
  const { hash, producer, number, soundness, hasMeme, proposedAt, transactions } = block;
  const groupOf = (other: number) => world.groupOf(other);
  return {
    producer,
    producer_group: groupOf(producer),
    number,
    soundness,
    has_meme: hasMeme,
    age_ms: world.now - proposedAt,
    votes: world
      .receivedVotes(agent, hash)
      .map(({ agent: by, decision, ally }) => ({ agent: by, group: groupOf(by), decision, ally })),
    memes: world.receivedMemes(agent, hash).map(({ stance, text }) => ({ stance, text })),
    remarks: world.receivedRemarks(agent, hash).map(({ agent: by, stance, message }) => ({
      agent: by,
      group: groupOf(by),
      stance,
      message,
    })),
    transactions: [...transactions],
  };
}

/** What a decider may say at once, whatever carries it. */
export const LARGEST_ANSWER_BYTES = 262_144;
/** What an agent takes from one question to the next, as canonical JSON. */
const LARGEST_MEMORY_BYTES = 8_192;

/** The largest token count of one call. */
const MOST_TOKENS = 1_000_000_000;

const about = (description: string) => ({ description });
const tokens = (description: string) =>
  Type.Optional(Type.Integer({ minimum: 0, maximum: MOST_TOKENS, ...about(description) }));

/** Tokens that a call used; a member is left out where the decider does not report it. */
export interface Usage {
  input_tokens?: number;
  output_tokens?: number;
}

/** The counts in `input` and `output` that are possible; undefined when neither is. */
export function parseUsage(input: unknown, output: unknown): Usage | undefined {
  const isCount = (value: unknown): value is number =>
    Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= MOST_TOKENS;
  if (!isCount(input) && !isCount(output)) return undefined;
  return {
    ...(isCount(input) ? { input_tokens: input } : {}),
    ...(isCount(output) ? { output_tokens: output } : {}),
  };
}

/** A whole answer. One command, or a list of them, stands for an answer that has nothing else. */
export const Answer = Type.Object(
  {
    commands: Type.Array(Type.Union(Object.values(scriptCommands)), {
      maxItems: 16,
      ...about('what the agent does, in this order; all of it or, if one cannot be, nothing'),
    }),
    memory: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        ...about(`shown with its next question; at most ${LARGEST_MEMORY_BYTES} bytes`),
      }),
    ),
    thought: Type.Optional(
      Type.String({ maxLength: 4_000, ...about('why: kept in the cassette, told to nobody') }),
    ),
    usage: Type.Optional(
      Type.Object(
        { input_tokens: tokens('that a model read'), output_tokens: tokens('that it wrote') },
        { additionalProperties: false, ...about('what the answer cost') },
      ),
    ),
  },
  { additionalProperties: false },
);
export type Answer = Static<typeof Answer>;

/** The members beside commands, which are checked each by itself: what is said then names one. */
const Beside = Type.Object(
  { ...Answer.properties, commands: Type.Array(Type.Unknown(), { maxItems: 16 }) },
  { additionalProperties: false },
);
const checkBeside = validator('decider_answer', Beside);

/**
 * @throws {TypeError} saying what is no answer, or which command cannot be.
 */
export function parseAnswer(given: unknown, doing: Doing): Answer {
  const answer = whole(given);
  const problem = checkBeside(answer);
  if (problem) throw new TypeError(`its answer ${problem.pointer} ${problem.message}`);
  const { commands, memory } = answer as Answer;
  for (const command of commands) commandFor(command, doing);
  const bytes = memory === undefined ? 0 : Buffer.byteLength(canonical(memory));
  if (bytes > LARGEST_MEMORY_BYTES) {
    const limit = `expected at most ${LARGEST_MEMORY_BYTES} as canonical JSON`;
    throw new TypeError(`its memory has ${bytes} bytes; ${limit}`);
  }
  const strange = /[^\P{Cc}\n\t]/u.exec(texts(answer));
  if (strange === null) return answer as Answer;
  const code = strange[0].codePointAt(0)!.toString(16).padStart(4, '0');
  throw new TypeError(`its answer holds the control character U+${code}`);
}

function whole(given: unknown): unknown {
  if (given === null) return { commands: [] };
  if (Array.isArray(given)) return { commands: given };
  return typeof given === 'object' && 'do' in given ? { commands: [given] } : given;
}

/** All texts in a value, one after another. */
function texts(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return '';
  return Object.entries(value)
    .map(([key, member]) => key + texts(member))
    .join('');
}

/** A line that may be shown on a terminal and written down. */
export const plainLine = (cause: unknown): string =>
  oneLine(cause)
    .replace(/\p{Cc}/gu, '?')
    .toWellFormed();

const shape = <P extends TProperties>(members: P, description: string) =>
  Type.Object(members, { additionalProperties: false, description });
const count = (description: string) => Type.Integer({ minimum: 0, ...about(description) });
const ordinal = (description: string) => Type.Integer({ minimum: -1, ...about(description) });
const text = (description: string) => Type.String(about(description));
const yes = (description: string) => Type.Boolean(about(description));
const ordinals = (description: string) =>
  Type.Array(Type.Integer({ minimum: 0 }), about(description));
const anything = (description: string) =>
  Type.Record(Type.String(), Type.Unknown(), about(description));
const or = <S extends Parameters<typeof Type.Union>[0][number]>(schema: S) =>
  Type.Union([schema, Type.Null()]);

const alliance = (description: string) =>
  shape({ id: text('its id'), members: ordinals('who is in it') }, description);
const by = { agent: ordinal('whose'), group: text('its group') };

const Block = shape(
  {
    producer: ordinal('who made it; -1 for a stranger'),
    producer_group: text("the producer's group"),
    number: count('counts the blocks of its producer, from 0'),
    soundness: Type.Integer({ minimum: 0, maximum: 100, ...about('percent that add up') }),
    has_meme: yes('whether it carries a meme'),
    age_ms: count('since it was proposed'),
    votes: Type.Array(
      shape({ ...by, decision: Decision, ally: yes('they share an alliance') }, 'of a neighbour'),
      about('that the agent has heard of'),
    ),
    memes: Type.Array(
      shape({ stance: Decision, text: text('what it says') }, 'about the block'),
      about('that it has heard of'),
    ),
    remarks: Type.Array(
      shape({ ...by, stance: or(Decision), message: text('what was said') }, 'of a neighbour'),
      about('that it has heard'),
    ),
    transactions: Type.Array(Type.String(), about('what each of them says')),
  },
  'the block that the question is about',
);

const View = shape(
  {
    now_ms: count('since the run began'),
    me: shape(
      {
        ordinal: count('counts the agents of the scenario, from 0'),
        name: text('its name'),
        group: text('its group'),
        personality: text('its personality'),
      },
      'the agent',
    ),
    on_break: yes('its status is something else than active'),
    reputation: Type.Number({ minimum: 0, maximum: 100, ...about('as it was last told') }),
    neighbours: ordinals('whom it hears, and who hear it'),
    alliances: Type.Array(alliance('one of its own'), about('that it is a member of')),
    head: shape(
      {
        contested: yes('it knows of a block in voting on the head'),
        own: yes('one of these is its own'),
      },
      'the head as it knows it',
    ),
    block: or(Block),
    round: count('counts the questions about this vote, from 0'),
    invitation: or(alliance('what it is invited to')),
    message: or(
      shape(
        {
          from: ordinal('who sent it'),
          group: text("the sender's group"),
          content: Type.Unknown(about('plain data')),
        },
        'what a neighbour has sent',
      ),
    ),
    parameters: anything('of the strategy in the scenario'),
    memory: anything('what the last answer for this agent gave; empty at first'),
    chance: count('drawn for this question: for a decider that wants chance'),
  },
  'what the agent sees',
);

const QuestionSchema = shape(
  {
    protocol: Type.Literal(1),
    id: text('names the question among all of the run: agent, kind and number'),
    agent: count('whom it is about'),
    kind: Type.Enum(occasions, about('why the agent is called')),
    number: count('counts the questions of this kind to the agent, from 0'),
    view: View,
  },
  'a question to a decider',
);

/** Draft 2020-12. */
export const deciderSchema = (): object => ({
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: 'urn:folkmoot:decider',
  title: 'Folkmoot decider',
  $defs: { question: QuestionSchema, answer: Answer },
  oneOf: [{ $ref: '#/$defs/question' }, { $ref: '#/$defs/answer' }],
});
