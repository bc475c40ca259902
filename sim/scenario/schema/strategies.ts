/**
 * The strategies of agents: how a group acts, with the parameters of each. Three of them ask a
 * decider outside of the process: a program, a server at a URL, or a tool of an MCP server.
 */
import { type Static, type TProperties, Type } from '../../../engine/protocol/bundled/typebox.js';
import { about, GroupName, integerFrom, Share } from './common.js';

/** When a decider may be asked: the functions that a script may have. */
export const occasions = [
  ...(['start', 'hear', 'vote', 'produce', 'mingle', 'invited', 'wake', 'receive'] as const),
];

/** Names an environment variable. */
const variableName = { pattern: '^[A-Za-z_][A-Za-z0-9_]{0,99}$' } as const;

/** Of every decider. */
const asked = {
  asks: Type.Array(Type.Enum(occasions), {
    minItems: 1,
    maxItems: occasions.length,
    uniqueItems: true,
    default: ['vote'],
    ...about('when it is asked; at all other times its agents act by their personality'),
  }),
  parameters: Type.Record(Type.String(), Type.Unknown(), {
    default: {},
    ...about('shown to it with each question'),
  }),
  timeout_ms: integerFrom(1, 3_600_000, 'of the wall, for one call', 30_000),
  retries: integerFrom(0, 10, 'calls after one that gave no answer that can be used', 2),
  backoff_ms: integerFrom(
    0,
    60_000,
    'of the wall, before the second call; then twice as long',
    500,
  ),
};

const Command = Type.Array(Type.String({ minLength: 1, maxLength: 4_000 }), {
  minItems: 1,
  maxItems: 100,
  ...about("program and arguments, started in the scenario's folder and by no shell"),
});
const Variables = Type.Array(Type.String(variableName), {
  maxItems: 100,
  default: [],
  ...about('environment variables that it is given, beside PATH, HOME and their like'),
});
const exec = {
  command: Command,
  processes: integerFrom(
    1,
    64,
    'how many are started; an agent is always asked of the same one',
    1,
  ),
  env: Variables,
  most_at_once: integerFrom(1, 256, 'questions that one process is asked at once', 1),
  ...asked,
};

const promptPath = (description: string) =>
  Type.String({ minLength: 1, maxLength: 500, ...about(description) });

/** Where somebody listens. */
const Address = (description: string) =>
  Type.String({ minLength: 1, maxLength: 2_000, pattern: '^https?://', ...about(description) });
/** A key is never part of a scenario. */
const KeyVariable = Type.Optional(
  Type.String({
    ...variableName,
    ...about('environment variable with a key, which is sent as Authorization: Bearer'),
  }),
);

const http = {
  url: Address('where questions are posted to; http or https'),
  dialect: Type.Enum(['folkmoot', 'openai'], {
    default: 'folkmoot',
    ...about('openai: chat completions, as many model servers have them'),
  }),
  key_env: KeyVariable,
  model: Type.Optional(
    Type.String({ minLength: 1, maxLength: 200, ...about('openai: name of the model') }),
  ),
  prompts: Type.Optional(
    Type.Object(
      {
        system: Type.Optional(promptPath('a file: who the model is, and how it answers')),
        ...Object.fromEntries(
          occasions.map((name) => [
            name,
            Type.Optional(promptPath(`a file: what is said at ${name}; else the question as JSON`)),
          ]),
        ),
      },
      { additionalProperties: false, ...about("openai: texts, files in the scenario's folder") },
    ),
  ),
  request: Type.Record(Type.String(), Type.Unknown(), {
    default: {},
    ...about('openai: further members of the request, such as temperature'),
  }),
  most_at_once: integerFrom(1, 256, 'calls under way at once', 8),
  ...asked,
};

const mcp = {
  tool: Type.String({
    minLength: 1,
    maxLength: 200,
    ...about('name of the tool; a question is its arguments, an answer its result'),
  }),
  command: Type.Optional(Command),
  url: Type.Optional(Address('instead of a command: where the server listens; http or https')),
  env: Variables,
  key_env: KeyVariable,
  most_at_once: integerFrom(
    1,
    64,
    'sessions, each asked one question at a time; of a command, each has a process of its own',
    4,
  ),
  ...asked,
};

const strategy = <K extends string, P extends TProperties>(kind: K, text: string, own: P) =>
  Type.Object({ kind: Type.Literal(kind), ...own } as const, {
    additionalProperties: false,
    description: text,
  });

export const Strategy = Type.Union(
  [
    strategy('personality', 'votes by its personality: content, neighbours, memes and whim', {}),
    strategy('honest', 'approves every sound block and rejects every other', {
      soundness: integerFrom(0, 100, 'percent of transactions that must add up', 100),
    }),
    strategy('equivocator', 'votes one way, then the other way too', {
      rate: Share('of blocks on which it does', 1),
      gap_ms: integerFrom(0, 600_000, 'between its two votes', 200),
    }),
    strategy(
      'bloc',
      'approves what its own group proposes and rejects all else; its blocks are bad',
      {
        honest_blocks: Type.Boolean({
          default: false,
          description: 'its blocks are sound after all',
        }),
      },
    ),
    strategy('contrarian', 'votes against the majority of what it heard, else against content', {}),
    strategy('follower', 'votes as most neighbours did, and waits until it has heard some', {
      hears: integerFrom(1, 1_000, 'votes that it waits for', 2),
      patience_ms: integerFrom(0, 600_000, 'then votes by its personality', 5_000),
    }),
    strategy('lazy', 'approves without looking, now and then', {
      effort: Share('of blocks on which it votes', 0.3),
    }),
    strategy('flip_flop', 'approves one block and rejects the next', {}),
    strategy('meme_spammer', 'floods each block with memes and votes as they say', {
      memes: integerFrom(1, 100, 'memes a block', 5),
      stance: Type.Enum(['approve', 'reject'], {
        default: 'reject',
        description: 'what they say, and vote',
      }),
    }),
    strategy('sybil', 'one operator behind many keys: all vote alike, at once, and ally', {
      approves: Share('of blocks, the same ones for the whole group', 0.5),
    }),
    strategy('silent', 'never votes', {}),
    strategy('censor', 'leaves the transactions of a group out of its blocks', {
      against: GroupName('whose transactions it leaves out'),
    }),
    strategy(
      'vote_exhauster',
      'floods the network with blocks that never add up, so that all others run out of votes, ' +
        'and votes for those of its own group only',
      { every_ms: integerFrom(100, 600_000, 'between its attempts to propose', 1_000) },
    ),
    strategy(
      'slot_holder',
      'takes each place for a block in voting as soon as it is free, with blocks that never add ' +
        'up, and never votes',
      { every_ms: integerFrom(100, 600_000, 'between its attempts to propose', 200) },
    ),
    strategy('script', 'a module of your own', {
      module: Type.String({
        minLength: 1,
        maxLength: 500,
        description: "path from the scenario's folder, inside it",
      }),
      parameters: Type.Record(Type.String(), Type.Unknown(), {
        default: {},
        description: 'handed to the module',
      }),
    }),
    strategy('http', 'is decided by whoever answers at a URL: see deciders.md', http),
    strategy('exec', 'is decided by a program that it starts: see deciders.md', exec),
    strategy('mcp', 'is decided by a tool of an MCP server: see deciders.md', mcp),
  ],
  { default: { kind: 'personality' } },
);

export type Strategy = Static<typeof Strategy>;
export type StrategyOf<K extends Strategy['kind']> = Extract<Strategy, { kind: K }>;

/** Decided outside of this process. */
export type External = StrategyOf<'http' | 'exec' | 'mcp'>;
const external: ReadonlySet<string> = new Set<External['kind']>(['http', 'exec', 'mcp']);

export const isExternal = <S extends { kind: string }>(
  strategy: S,
): strategy is Extract<S, { kind: External['kind'] }> => external.has(strategy.kind);
