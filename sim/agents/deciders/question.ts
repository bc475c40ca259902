/**
 * Questions to external deciders, their answers with limits, and the JSON Schema in
 * docs/deciders.schema.json. A question contains, as plain data, the view that a script would
 * receive at that moment. A question names blocks by producer and number, so a fork asks an
 * identical question until the agent sees something different.
 */
import { type Static, type TProperties, Type } from '../../../engine/protocol/bundled/typebox.js';
import { canonical } from '../../../engine/protocol/canonical.js';
import { Decision } from '../../../engine/protocol/schema/primitives.js';
import { validator } from '../../../engine/protocol/schema/validator.js';
import { sha256Hex } from '../../../engine/protocol/signing.js';
import { nearest } from '../../../engine/protocol/text.js';
import { about, type PlainSchema } from '../../scenario/schema/common.js';
import { occasions } from '../../scenario/schema/strategies.js';
import { DELIBERATE_PROMPT } from '../deliberation/prompts.js';
import type { BlockTalk, ScriptedAgent, World } from '../port.js';
import { commandFor, type Doing, oneLine, scriptCommands } from '../script/commands.js';
import type { CalledFunction, Occasion } from '../script/interface.js';

/** Identifies a question within a run. */
interface Address {
  /** Agent's ordinal. */
  agent: number;
  kind: CalledFunction;
  /** Index among questions of this kind to the agent, from 0. */
  number: number;
}

export interface Question extends Address {
  /** Unique within the run. */
  id: string;
  view: unknown;
  /** SHA-256 of the canonical JSON of the view. */
  saw: string;
}

/** State of an agent between questions. */
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

/** Random number for the decider, determined by seed and question. */
const chanceOf = (seedNumber: number, id: string): number =>
  Number.parseInt(sha256Hex(`folkmoot/chance/${seedNumber}/${id}`).slice(0, 8), 16);

function viewOf(
  agent: ScriptedAgent,
  world: World,
  { block, round = 0, alliance, message, note = null, deliberation }: Occasion,
  { parameters, memory }: Kept,
) {
  const { ordinal, name, group, personalityName: personality } = agent;
  const { contested, own, choice, standings } = world.head(ordinal);
  const allianceOf = (id: string) => ({ id, members: [...world.membersOf(id)] });
  return {
    now_ms: world.now - world.startMs,
    me: { ordinal, name, group: group.group, personality },
    on_break: agent.onBreak,
    reputation: world.reputationOf(ordinal),
    neighbours: [...world.neighbours(ordinal)],
    alliances: world.alliancesOf(ordinal).map(allianceOf),
    // Choice, standings, options and rule are absent without ballots, so that recorded answers to
    // older questions stay valid.
    head: {
      contested,
      own,
      ...(choice === null ? {} : { choice }),
      ...(standings === null ? {} : { standings }),
    },
    ...ruleOf(world),
    block: block ? blockOf(ordinal, world, block) : null,
    round,
    invitation: alliance === undefined ? null : allianceOf(alliance),
    message: message
      ? { from: message.from, group: world.groupOf(message.from), content: message.content }
      : null,
    // Absent without a note, so that recorded answers to older questions stay valid.
    ...(note === null ? {} : { note }),
    ...(deliberation === undefined ? {} : { deliberation }),
    parameters,
    memory,
  };
}

/** Describes the network's rule if votes may have ballots. */
function ruleOf({ rule }: World) {
  const { ballotSchema: ballot, name: policy, values: parameters } = rule;
  if (ballot === null) return {};
  return { rule: { policy, title: rule.rule.title, parameters, ballot } };
}

function blockOf(agent: number, world: World, block: BlockTalk) {
  const { hash, producer, number, soundness, hasMeme, proposedAt, transactions, options } = block;
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
    // In a deliberation, remarks are statements, which the view of the deliberation filters.
    remarks: (world.scenario.deliberation ? [] : world.receivedRemarks(agent, hash)).map(
      ({ agent: by, stance, message }) => ({ agent: by, group: groupOf(by), stance, message }),
    ),
    transactions: [...transactions],
    ...(options.length === 0 ? {} : { options: [...options] }),
  };
}

export const LARGEST_ANSWER_BYTES = 262_144;
/** Size limit for an agent's memory as canonical JSON. */
const LARGEST_MEMORY_BYTES = 8_192;

/** Largest plausible token count for one call. */
const MOST_TOKENS = 1_000_000_000;

const tokens = (description: string) =>
  Type.Optional(Type.Integer({ minimum: 0, maximum: MOST_TOKENS, ...about(description) }));

/** Tokens used by a call. A member is absent if the decider does not report that count. */
export interface Usage {
  input_tokens?: number;
  output_tokens?: number;
}

/** Returns the plausible counts, or undefined if neither count is plausible. */
export function parseUsage(input: unknown, output: unknown): Usage | undefined {
  const isCount = (value: unknown): value is number =>
    Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= MOST_TOKENS;
  if (!isCount(input) && !isCount(output)) return undefined;
  return {
    ...(isCount(input) ? { input_tokens: input } : {}),
    ...(isCount(output) ? { output_tokens: output } : {}),
  };
}

/** Complete answer. A single command or a list of commands is accepted as a short form. */
export const Answer = Type.Object(
  {
    commands: Type.Array(Type.Union(Object.values(scriptCommands)), {
      maxItems: 16,
      ...about('commands, performed in order; if one is invalid, none is performed'),
    }),
    memory: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        ...about(
          `passed back with the agent's next question; at most ${LARGEST_MEMORY_BYTES} bytes`,
        ),
      }),
    ),
    thought: Type.Optional(
      Type.String({
        maxLength: 4_000,
        ...about('explanation; recorded, but not sent to other agents'),
      }),
    ),
    usage: Type.Optional(
      Type.Object(
        { input_tokens: tokens('read by a model'), output_tokens: tokens('written by a model') },
        { additionalProperties: false, ...about('cost of the answer') },
      ),
    ),
  },
  { additionalProperties: false },
);
export type Answer = Static<typeof Answer>;

/** Commands are checked individually, so that an error names the invalid command. */
const OtherMembers = Type.Object(
  { ...Answer.properties, commands: Type.Array(Type.Unknown(), { maxItems: 16 }) },
  { additionalProperties: false },
);
const checkOtherMembers = validator('decider_answer', OtherMembers);

/** @throws {TypeError} with the name of the invalid member or command. */
export function parseAnswer(given: unknown, doing: Doing): Answer {
  const answer = whole(given);
  const problem = checkOtherMembers(answer);
  if (problem) throw new TypeError(`answer ${problem.pointer} ${problem.message}`);
  const { commands, memory } = answer as Answer;
  for (const command of commands) commandFor(command, doing);
  const bytes = memory === undefined ? 0 : Buffer.byteLength(canonical(memory));
  if (bytes > LARGEST_MEMORY_BYTES) {
    const limit = `expected at most ${LARGEST_MEMORY_BYTES} as canonical JSON`;
    throw new TypeError(`memory too large: ${bytes} bytes (${limit})`);
  }
  const strange = /[^\P{Cc}\n\t]/u.exec(texts(answer));
  if (strange === null) return answer as Answer;
  const code = strange[0].codePointAt(0)!.toString(16).padStart(4, '0');
  throw new TypeError(`control character in the answer: U+${code}`);
}

function whole(given: unknown): unknown {
  if (given === null) return { commands: [] };
  if (Array.isArray(given)) return { commands: given };
  return typeof given === 'object' && 'do' in given ? { commands: [given] } : given;
}

function texts(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return '';
  return Object.entries(value)
    .map(([key, member]) => key + texts(member))
    .join('');
}

/** Escapes text for a terminal or a log. */
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
  shape({ id: text('alliance id'), members: ordinals('its members') }, description);
const by = { agent: ordinal('author'), group: text("the author's group") };

const Block = shape(
  {
    producer: ordinal('producer; -1 outside the scenario'),
    producer_group: text("the producer's group"),
    number: count('index among the blocks of the producer, from 0'),
    soundness: Type.Integer({
      minimum: 0,
      maximum: 100,
      ...about('percent of sound transactions'),
    }),
    has_meme: yes('true if the block carries a meme'),
    age_ms: count('time since the proposal'),
    votes: Type.Array(
      shape(
        { ...by, decision: Decision, ally: yes('true if the two share an alliance') },
        'vote of a neighbour',
      ),
      about('votes that the agent has received'),
    ),
    memes: Type.Array(
      shape({ stance: Decision, text: text('content') }, 'meme about the block'),
      about('memes that the agent has received'),
    ),
    remarks: Type.Array(
      shape({ ...by, stance: or(Decision), message: text('text') }, 'remark of a neighbour'),
      about('remarks that the agent has received'),
    ),
    transactions: Type.Array(Type.String(), about('data of each transaction')),
    options: Type.Optional(
      Type.Array(Type.String(), about('names of the options; absent without options')),
    ),
  },
  'the block that the question is about',
);

const Standings = Type.Record(
  Type.String(),
  Type.Integer(),
  about('scores of the head at the end of voting'),
);

const View = shape(
  {
    now_ms: count('time since the start of the run'),
    me: shape(
      {
        ordinal: count('index of the agent in the scenario, from 0'),
        name: text("the agent's name"),
        group: text("the agent's group"),
        personality: text("the agent's personality"),
      },
      'the agent',
    ),
    on_break: yes('true if the status is not active'),
    reputation: Type.Number({ minimum: 0, maximum: 100, ...about('last known value') }),
    neighbours: ordinals('agents connected to it'),
    alliances: Type.Array(alliance('an alliance'), about('memberships')),
    head: shape(
      {
        contested: yes('true if the agent knows a block in voting on the head'),
        own: yes("true if one of these blocks is the agent's"),
        choice: Type.Optional(text('option that the rule chose for the head')),
        standings: Type.Optional(Standings),
      },
      'the head known to the agent',
    ),
    rule: Type.Optional(
      shape(
        {
          policy: text('name of the policy'),
          title: text('when a block is finalized'),
          parameters: Type.Record(Type.String(), Type.Integer(), about('parameters by name')),
          ballot: anything('schema of a ballot, a subset of JSON Schema'),
        },
        'the decision rule; absent if votes have no ballots',
      ),
    ),
    block: or(Block),
    round: count('index among the questions about this vote, from 0'),
    invitation: or(alliance('the alliance that it is invited to')),
    message: or(
      shape(
        {
          from: ordinal('sender'),
          group: text("the sender's group"),
          content: Type.Unknown(about('plain data')),
        },
        'a message from a neighbour',
      ),
    ),
    note: Type.Optional(
      Type.Unknown(about('note of the command wake, in wake; absent without a note')),
    ),
    deliberation: Type.Optional(
      anything('state of the deliberation, in deliberate; see deliberation.md'),
    ),
    parameters: anything("the strategy's parameters in the scenario"),
    memory: anything('memory from the last answer for this agent; empty at first'),
    chance: count('random 32-bit number, fixed by seed and question'),
  },
  'what the agent knows',
);

const QuestionSchema = shape(
  {
    protocol: Type.Literal(1),
    id: text('unique in the run: agent/kind/number'),
    agent: count('ordinal of the agent'),
    kind: Type.Enum(occasions, about('reason for the question')),
    number: count('index among the questions of this kind to the agent, from 0'),
    view: View,
  },
  'a question to a decider',
);

/** Lists the members by path. An item has the number 0, and a path to unknown members a dot. */
function listPaths(node: PlainSchema, before = ''): string[] {
  const { properties, items, type } = node.anyOf?.find((one) => one.type !== 'null') ?? node;
  const inner = Object.entries(properties ?? (items ? { 0: items } : {}));
  if (inner.length === 0) return type === undefined || type === 'object' ? [before] : [];
  return inner.flatMap(([name, one]) => [before + name, ...listPaths(one, `${before}${name}.`)]);
}

/** The members of a deliberation are those of its built-in prompt. */
const inDeliberation = [...DELIBERATE_PROMPT.matchAll(/view\.deliberation\.\w+/g)].flat();
const paths = [
  ...['question', ...inDeliberation, ...inDeliberation.map((path) => `${path}.`)],
  ...listPaths(QuestionSchema as PlainSchema).filter((path) => path !== 'view.deliberation.'),
];

/**
 * Finds the first placeholder of a prompt, such as `{{view.blok.votes}}`, that no question fills.
 * Returns its problem, or null.
 */
export function findPlaceholderProblem(prompt: string): string | null {
  for (const [written, path = ''] of prompt.matchAll(/\{\{\s*([\w.]+)\s*\}\}/g)) {
    const plain = path.replace(/\.\d+(?=\.|$)/g, '.0');
    const isOpen = paths.some((one) => one.endsWith('.') && plain.startsWith(one));
    if (isOpen || paths.includes(plain)) continue;
    const prefixes = plain.split('.').map((_, index, steps) => steps.slice(0, index).join('.'));
    const parent = prefixes.findLast((one) => paths.includes(one));
    const inside = parent === undefined ? '' : `${parent}.`;
    const names = paths.filter(
      (one) => one.startsWith(inside) && !one.slice(inside.length).includes('.'),
    );
    const near = nearest(
      plain,
      paths.filter((one) => !one.endsWith('.')),
    );
    const expected = names.length > 0 ? `one of ${names.join(', ')}` : `no member of ${parent}`;
    return `contains ${written}; expected ${expected}${near ? `; did you mean {{${near}}}?` : ''}`;
  }
  return null;
}

export const deciderSchema = (): object => ({
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: 'urn:folkmoot:decider',
  title: 'Folkmoot decider',
  $defs: { question: QuestionSchema, answer: Answer },
  oneOf: [{ $ref: '#/$defs/question' }, { $ref: '#/$defs/answer' }],
});
