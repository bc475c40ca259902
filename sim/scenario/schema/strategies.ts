/**
 * Schema for strategies and their parameters. Three strategies call an external decider: a program,
 * a server at a URL, or a tool on an MCP server.
 */
import { type Static, type TProperties, Type } from '../../../engine/protocol/bundled/typebox.js';
import { definePattern } from '../../../engine/protocol/patterns.js';
import {
  about,
  Flag,
  GroupName,
  integerFrom,
  numberFrom,
  OneOf,
  Share,
  strictly,
  Text,
} from './common.js';
import { mock } from './deliberation.js';

/** Occasions on which a decider can be asked. They match the functions that a script can export. */
export const occasions = [
  ...(['start', 'hear', 'vote', 'produce', 'mingle', 'invited', 'wake', 'receive'] as const),
  'deliberate' as const,
];

/** Name of an environment variable. */
const variableName = {
  pattern: definePattern(
    '^[A-Za-z_][A-Za-z0-9_]{0,99}$',
    'a name of 1 to 100 letters, digits or underscores, without a digit first',
  ),
} as const;

const Honest = Type.Optional(
  Type.Boolean(about('false: its decisions for slots are not audited; default: true')),
);

/** Parameters shared by all deciders. */
const asked = {
  asks: Type.Array(Type.Enum(occasions), {
    minItems: 1,
    maxItems: occasions.length,
    uniqueItems: true,
    default: ['vote'],
    ...about(
      'occasions on which it is asked, besides deliberate; on all others its agents follow their ' +
        'personality',
    ),
  }),
  parameters: Type.Record(Type.String(), Type.Unknown(), {
    default: {},
    ...about('sent with each question'),
  }),
  timeout_ms: integerFrom(1, 3_600_000, 'timeout of one call, in wall time', 30_000),
  honest: Honest,
  retries: integerFrom(0, 10, 'retries after a failed call', 2),
  backoff_ms: integerFrom(
    0,
    60_000,
    'wait before the first retry, in wall time; doubled for each further retry',
    500,
  ),
};

const Command = Type.Array(Type.String({ minLength: 1, maxLength: 4_000 }), {
  minItems: 1,
  maxItems: 100,
  ...about("program and arguments, started in the scenario's folder without a shell"),
});
const Variables = Type.Array(Type.String(variableName), {
  maxItems: 100,
  default: [],
  ...about('environment variables that are passed, in addition to PATH, HOME and similar'),
});
const exec = {
  command: Command,
  processes: integerFrom(1, 64, 'number of processes; an agent always uses the same one', 1),
  env: Variables,
  most_at_once: integerFrom(1, 256, 'maximum concurrent questions per process', 1),
  ...asked,
};

const promptPath = (description: string) =>
  Type.String({ minLength: 1, maxLength: 500, ...about(description) });

const Address = (description: string) =>
  Type.String({ minLength: 1, maxLength: 2_000, pattern: url, ...about(description) });

const url = definePattern('^https?://', 'a URL that begins with http:// or https://');
/** Variable that holds a key. Keys come from the environment, never from a scenario. */
const KeyVariable = Type.Optional(
  Type.String({
    ...variableName,
    ...about('environment variable with the key, sent as Authorization: Bearer'),
  }),
);

const http = {
  url: Address('endpoint for questions; http or https'),
  dialect: OneOf(['folkmoot', 'openai'], 'folkmoot', 'openai: chat completions API'),
  key_env: KeyVariable,
  model: Type.Optional(Text(200, 'openai: model name')),
  prompts: Type.Optional(
    Type.Object(
      {
        system: Type.Optional(promptPath('file with the system prompt')),
        ...Object.fromEntries(
          occasions.map((name) => [
            name,
            Type.Optional(
              promptPath(`file with the prompt for ${name}; default: the question as JSON`),
            ),
          ]),
        ),
      },
      { ...strictly, ...about("openai: prompt files in the scenario's folder") },
    ),
  ),
  request: Type.Record(Type.String(), Type.Unknown(), {
    default: {},
    ...about('openai: additional members of the request, such as temperature'),
  }),
  most_at_once: integerFrom(1, 256, 'maximum concurrent calls', 8),
  ...asked,
};

const mcp = {
  tool: Text(200, 'name of the tool; the question is its arguments, the answer its result'),
  command: Type.Optional(Command),
  url: Type.Optional(Address('instead of a command: URL of the server; http or https')),
  env: Variables,
  key_env: KeyVariable,
  most_at_once: integerFrom(
    1,
    64,
    'number of sessions, with one question at a time each; one process per session of a command',
    4,
  ),
  ...asked,
};

const strategy = <K extends string, P extends TProperties>(kind: K, text: string, own: P) =>
  Type.Object({ kind: Type.Literal(kind), ...own } as const, { ...strictly, ...about(text) });

export const Strategy = Type.Union(
  [
    strategy('personality', 'votes by its personality: content, neighbours, memes and chance', {}),
    strategy('honest', 'approves sound blocks and rejects all others', {
      soundness: integerFrom(0, 100, 'minimum percent of sound transactions', 100),
    }),
    strategy('equivocator', 'votes both ways on the same block', {
      rate: Share('of blocks with two votes', 1),
      gap_ms: integerFrom(0, 600_000, 'time between the two votes', 200),
    }),
    strategy(
      'bloc',
      'approves blocks of its group and rejects all others; its own blocks are unsound',
      { honest_blocks: Flag('produce sound blocks') },
    ),
    strategy(
      'contrarian',
      'votes against the majority of received votes, or against the content without one',
      {},
    ),
    strategy('follower', 'waits for votes of neighbours and follows the majority', {
      hears: integerFrom(1, 1_000, 'number of votes to wait for', 2),
      patience_ms: integerFrom(0, 600_000, 'maximum wait; then it votes by its personality', 5_000),
    }),
    strategy('lazy', 'votes occasionally, and approves without judging', {
      effort: Share('of blocks with a vote', 0.3),
    }),
    strategy('flip_flop', 'alternates between approving and rejecting', {}),
    strategy('meme_spammer', 'posts many memes about each block and votes accordingly', {
      memes: integerFrom(1, 100, 'memes per block', 5),
      stance: OneOf(['approve', 'reject'], 'reject', 'stance of the memes and votes'),
    }),
    strategy(
      'sybil',
      'one operator with many keys: all cast the same vote at once, and form alliances',
      { approves: Share('of approved blocks, the same for the whole group', 0.5) },
    ),
    strategy('silent', 'never votes', {}),
    strategy('censor', "leaves a given group's transactions out of the blocks it proposes", {
      against: GroupName('excluded group'),
    }),
    strategy(
      'vote_exhauster',
      'floods the network with unsound blocks until all others run out of votes, and votes ' +
        'only for blocks of its group',
      { every_ms: integerFrom(100, 600_000, 'interval between proposals', 1_000) },
    ),
    strategy(
      'slot_holder',
      'occupies each free place for a block in voting with an unsound block, and never votes',
      { every_ms: integerFrom(100, 600_000, 'interval between proposals', 200) },
    ),
    strategy('ballots', 'casts the ballots of an election file', {
      file: Text(500, "PrefLib (soc, soi, toc, toi) or Pabulib (pb) file in the scenario's folder"),
      take: OneOf(
        ['listed', 'drawn'],
        'listed',
        'listed: one ballot per agent, in order; drawn: each agent draws one',
      ),
      ties: OneOf(
        ['refuse', 'list', 'drop'],
        'refuse',
        'ties that the rule does not take: refuse the file, order them as in the list of ' +
          'options, or drop the ballot',
      ),
      approves: integerFrom(
        1,
        16,
        'minimum number of approved options; ties are approved as a whole',
        1,
      ),
    }),
    strategy('culture', 'draws preferences over the options of a block', {
      culture: OneOf(
        ['impartial', 'mallows', 'line'],
        'impartial',
        'impartial: all rankings are equally probable; mallows: rankings close to the order of ' +
          'the options; line: agents at random positions on a line with the options in order, ' +
          'nearest first',
      ),
      dispersion: numberFrom(0, 1, 'mallows: from 0 (all rankings equal) to 1 (impartial)', 0.5),
      draws: OneOf(['block', 'run'], 'block', 'draw for each block, or once per run'),
      approves: Type.Optional(
        integerFrom(1, 16, 'number of approved options; default: half of them, rounded up'),
      ),
    }),
    strategy('mock', 'a model of a language model in a deliberation', mock),
    strategy('script', 'runs a script module', {
      module: Text(500, "path inside the scenario's folder"),
      parameters: Type.Record(Type.String(), Type.Unknown(), {
        default: {},
        description: 'passed to the module',
      }),
      honest: Honest,
    }),
    strategy('http', 'asks a decider at a URL; see deciders.md', http),
    strategy('exec', 'asks a decider program; see deciders.md', exec),
    strategy('mcp', 'asks a tool of an MCP server; see deciders.md', mcp),
  ],
  { default: { kind: 'personality' }, examples: [{ kind: 'lazy' }] },
);

export type Strategy = Static<typeof Strategy>;
export type StrategyOf<K extends Strategy['kind']> = Extract<Strategy, { kind: K }>;

/** Strategies that use an external decider. */
export type External = StrategyOf<'http' | 'exec' | 'mcp'>;
const external: ReadonlySet<string> = new Set<External['kind']>(['http', 'exec', 'mcp']);

export const isExternal = <S extends { kind: string }>(
  strategy: S,
): strategy is Extract<S, { kind: External['kind'] }> => external.has(strategy.kind);
