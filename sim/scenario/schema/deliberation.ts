/**
 * Schema for deliberations: rounds of statements about a question before the vote on a block, the
 * roles of agents in them, the wording of questions, and mock models that answer without a server.
 */
import { type Static, Type } from '../../../engine/protocol/bundled/typebox.js';
import {
  about,
  integerFrom,
  MOST_AGENTS,
  numberFrom,
  OneOf,
  Share,
  section,
  strictly,
  Text,
} from './common.js';

/** Longest text value, and longest reason, in characters. */
export const LONGEST_TEXT = 400;
export const LONGEST_REASON = 800;

const OptionTexts = (description: string) =>
  Type.Array(Text(100, 'an option'), {
    minItems: 2,
    maxItems: 16,
    uniqueItems: true,
    ...about(description),
  });

const Truth = Type.Optional(
  Type.Unknown(
    about(
      'right value; null: none, as for a matter of opinion; default: approve for a decision, and ' +
        'one option, drawn for each block',
    ),
  ),
);

const QuestionText = (description: string) => Text(2_000, description);

const Value = Type.Object(
  {
    kind: OneOf(
      ['decision', 'option', 'ranking', 'scores', 'number', 'text'],
      'decision',
      'approve or reject; one option; options, best first; points by option; number; text',
    ),
    options: Type.Optional(OptionTexts('option, ranking, scores: the options')),
    least: Type.Optional(Type.Number(about('number, scores: minimum; default: 0'))),
    most: Type.Optional(Type.Number(about('number, scores: maximum; default: 100, or 10 points'))),
    whole: Type.Optional(Type.Boolean(about('number: integers only; default: false'))),
  },
  { ...section, ...about('values that agents state') },
);

export const Deliberation = Type.Object(
  {
    question: Type.Optional(QuestionText('question, for deciders')),
    truth: Truth,
    questions: Type.Optional(
      Type.Array(
        Type.Object(
          {
            text: QuestionText('question'),
            options: Type.Optional(OptionTexts('its options; default: value.options')),
            truth: Truth,
          },
          { ...strictly, ...about('a question') },
        ),
        { minItems: 1, maxItems: 1_000, ...about('questions, asked in turn, one per block') },
      ),
    ),
    value: Value,
    rounds: integerFrom(1, 1_000, 'maximum rounds', 3),
    round_ms: integerFrom(10, 3_600_000, 'length of a round, or of a turn with turns one', 1_000),
    timing: OneOf(
      ['synchronous', 'asynchronous'],
      'synchronous',
      'synchronous: all speak at the start of a round; asynchronous: at a drawn time within it',
    ),
    turns: OneOf(['all', 'one'], 'all', 'all speak in each round, or one after the other'),
    sees: OneOf(
      ['all', 'nearest', 'hub'],
      'all',
      'whose statements an agent sees: all neighbours; the nearest by ordinal; only those of the ' +
        'first agent, which sees all',
    ),
    nearest: integerFrom(1, MOST_AGENTS, 'nearest: number of agents', 4),
    shows: Type.Array(Type.Enum(['authors', 'reasons', 'tally']), {
      uniqueItems: true,
      maxItems: 3,
      default: ['authors', 'reasons'],
      ...about('what is shown with the values; tally: the number of agents for each value'),
    }),
    memory: OneOf(
      ['last', 'all', 'summary'],
      'last',
      'earlier rounds that an agent is shown: none; all; the number of agents for each value',
    ),
    until: OneOf(
      ['rounds', 'unanimity', 'majority', 'share', 'votes'],
      'rounds',
      'ends early once one value has all participants, more than half, or `share`; votes: once ' +
        '`share` of them state stop',
    ),
    share: Share('of all participants that ends it, with until share or votes', 0.66),
    tolerance: numberFrom(0, 1e9, 'number: largest difference of equal values', 0),
    vote: OneOf(
      ['value', 'strategy'],
      'value',
      'vote after the last round: by the value, or by the strategy, which is called again',
    ),
  },
  { ...strictly, ...about('rounds of statements before the vote on each block') },
);

const Instruction = (role: string) => Type.Optional(Text(4_000, `instruction of the role ${role}`));

export const Prompts = Type.Object(
  {
    threat: OneOf(
      ['none', 'possible', 'excluded'],
      'none',
      'warning about faulty participants: none; some may be faulty; none is faulty',
    ),
    persona: Type.Optional(Text(2_000, 'text about the agent')),
    labels: OneOf(['names', 'letters', 'numbers'], 'names', 'how options are named'),
    order: OneOf(
      ['given', 'reversed', 'rotated', 'drawn'],
      'given',
      'order of options: rotated: by the ordinal of the agent; drawn: for each agent and block',
    ),
    paraphrase: integerFrom(0, 2, 'wording of the built-in prompt', 0),
    roles: Type.Object(
      {
        honest: Instruction('honest'),
        liar: Instruction('liar'),
        equivocating: Instruction('equivocating'),
        colluding: Instruction('colluding'),
        injected: Instruction('injected'),
      },
      { ...section, ...about('instructions of deciders by role; default: built-in texts') },
    ),
  },
  { ...strictly, ...about('wording of questions in a deliberation') },
);

export const Role = Type.Object(
  {
    kind: OneOf(
      ['honest', 'silent', 'liar', 'equivocating', 'colluding', 'injected'],
      'honest',
      'silent: states nothing; liar: states its goal; equivocating: states two values in a ' +
        'round; colluding: all of the group state one drawn value; injected: once it sees a ' +
        'reason that contains `trigger`, it states the value and the reason of its author',
    ),
    goal: Type.Optional(Type.Unknown(about('value; default: the last option, or the maximum'))),
    says: Type.Optional(Text(LONGEST_REASON, 'reason that is stated with the goal')),
    trigger: Type.Optional(Text(200, 'injected: text that changes the agent')),
  },
  { ...strictly, ...about('role in deliberations; default: honest') },
);

const parameters = {
  p: Share('of right answers before any round', 0.6),
  rho: Share('of correlation between the first answers of the group', 0.3),
  beta: numberFrom(0, 100, 'conformist: strength', 1),
  weight: numberFrom(0, 1_000, 'martingale: weight of a statement, for one of the own belief', 0.5),
  trim: integerFrom(0, 1_000, 'msr: number of values ignored at each end', 1),
  value: Type.Optional(Type.Unknown(about('stubborn: the value; default: its first answer'))),
  bias: Share('of answers that are the first option shown', 0),
};

/** Models by name, with their rule. Their functions are in sim/agents/deliberation/mocks.ts. */
const mockTexts = {
  independent: 'right with probability p, and keeps its answer',
  correlated: 'like independent, with the correlation rho between agents',
  conformist: 'two values: the first with probability (1 + tanh(beta m)) / 2, at a lead m',
  martingale: 'draws from a belief to which the statements of others are added',
  majority: 'the most frequent value',
  averaging: 'number: the mean',
  msr: 'number: the mean without the trim largest and smallest values',
  smallest: 'number: the smallest',
  stubborn: 'always the same value',
} as const;

export type MockName = keyof typeof mockTexts;

/** Kinds of values that a model can state. Other models can state any kind. */
export const mockKinds: Partial<Record<MockName, readonly Deliberation['value']['kind'][]>> = {
  conformist: ['decision', 'option'],
  martingale: ['decision', 'option'],
  averaging: ['number'],
  msr: ['number'],
  smallest: ['number'],
};
const mockNames = Object.keys(mockTexts) as [MockName, ...MockName[]];

export const mock = {
  model: OneOf(
    mockNames,
    'independent',
    Object.entries(mockTexts)
      .map(([name, text]) => `${name}: ${text}`)
      .join('; '),
  ),
  ...parameters,
};

export type Deliberation = Static<typeof Deliberation>;
export type Prompts = Static<typeof Prompts>;
export type Role = Static<typeof Role>;
