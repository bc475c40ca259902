/** The schema of load files, from which checks, reference and editor support are derived. */
import { type Static, type TSchema, Type } from '../../engine/protocol/bundled/typebox.js';
import { definePattern } from '../../engine/protocol/patterns.js';
import { formatMarkdownTable } from '../../report/shared/format.js';
import { memberTable } from '../../sim/scenario/reference.js';
import { Seed } from '../../sim/scenario/schema/common.js';
import { Duration, type ExecutorName, executorNames, executors } from './executors.js';
import { type FaultKind, faultKinds, kinds, loadDefaults, MOST, workloadNames } from './options.js';

const strictly = { additionalProperties: false } as const;
const about = (description: string) => ({ description });
const FileName = (description: string) =>
  Type.String({ minLength: 1, maxLength: 1_000, description });
const Size = Type.Integer({ minimum: 1, maximum: 60_000 });

const mixed = Object.keys(kinds).filter((kind) => kind !== 'script');

const Weight = (kind: string) =>
  Type.Optional(
    Type.Number({ minimum: 0, maximum: 1_000_000, description: `weight of the request ${kind}` }),
  );

/** Members that scenarios of all executors share. */
const common = {
  startTime: Type.Optional(Duration('start after that of the run', '0s')),
  gracefulStop: Type.Optional(
    Duration('time for requests in flight at the end; later ones are interrupted', '30s'),
  ),
  exec: Type.Optional(
    Type.Enum([...workloadNames], { default: 'votes', description: 'built-in workload' }),
  ),
  mix: Type.Optional(
    Type.Object(Object.fromEntries(mixed.map((kind) => [kind, Weight(kind)])), {
      ...strictly,
      description: 'kinds of requests with their weights, in place of exec',
    }),
  ),
  module: Type.Optional(
    FileName('JavaScript module that chooses the requests, in place of exec and mix'),
  ),
  data: Type.Optional(FileName('CSV, JSON or NDJSON file whose rows a module gets in turn')),
  arrivals: Type.Optional(
    Type.Union(
      [
        Type.Enum(['uniform', 'poisson'], {}),
        Type.Object(
          { trace: FileName('file with one time per line, in seconds after the start') },
          { ...strictly, description: 'recorded arrivals' },
        ),
      ],
      { default: 'uniform', description: 'law of the arrivals' },
    ),
  ),
  think: Type.Optional(
    Type.Union(
      [
        Duration('fixed pause'),
        Type.Object(
          { from: Duration('shortest pause'), to: Duration('longest pause') },
          { ...strictly, description: 'pauses that are equally likely' },
        ),
      ],
      { description: 'pause of a virtual user after each iteration' },
    ),
  ),
};

const scenarioSchema = (executor: ExecutorName) =>
  Type.Object(
    { executor: Type.Literal(executor), ...executors[executor].members, ...common },
    { ...strictly, description: executors[executor].about },
  );

export const scenarioSchemas = Object.fromEntries(
  executorNames.map((name) => [name, scenarioSchema(name)]),
) as unknown as Record<ExecutorName, TSchema>;

const ThresholdMembers = Type.Object(
  {
    threshold: Type.String({ minLength: 1, maxLength: 200, ...about('condition, as above') }),
    abortOnFail: Type.Optional(
      Type.Boolean({ default: false, description: 'ends the run as soon as it does not hold' }),
    ),
    delayAbortEval: Type.Optional(Duration('measured time before it can end the run', '0s')),
  },
  strictly,
);

/** Name of a scenario, a server or a fault. */
export const name = definePattern(
  '^[A-Za-z0-9][A-Za-z0-9 _.-]{0,63}$',
  'a name of 1 to 64 characters',
);
const MOST_SCENARIOS = 100;

const span = (description: string, standard: number) =>
  Type.Optional(Duration(description, standard % 1_000 ? `${standard}ms` : `${standard / 1_000}s`));

/** A result shows the file, so it has no place for credentials. */
const urlPattern = definePattern(
  '^https?://[^\\s/?#@]+(?:/[^\\s?#]*)?$',
  'an http or https URL without credentials',
);

const Command = (description: string) =>
  Type.Array(Type.String({ maxLength: 1_000 }), { ...{ minItems: 1, maxItems: 100, description } });

/** A server that the run starts before its load and ends after it. */
export const Server = Type.Object(
  {
    command: Command('program and arguments, run in the folder of the file'),
    ready: Type.Optional(
      Type.String({ pattern: urlPattern, ...about('URL that answers when it is ready') }),
    ),
    autostart: Type.Optional(
      Type.Boolean({ default: true, description: 'false if only a fault starts it' }),
    ),
  },
  { ...strictly, description: 'a server' },
);
export type Server = Static<typeof Server>;

export const Fault = Type.Object(
  {
    at: Duration('begin, counted from the start of the run'),
    action: Type.Enum(Object.keys(faultKinds) as FaultKind[], {
      description: 'what happens, as below',
    }),
    duration: Type.Optional(Duration('time until it is undone', '0s')),
    server: Type.Optional(Type.String({ pattern: name, description: 'name in `servers`' })),
    signal: Type.Optional(
      Type.String({ pattern: '^SIG[A-Z0-9]{2,10}$', description: 'signal of `action: signal`' }),
    ),
    command: Type.Optional(Command('program and arguments of `action: run`')),
    undo: Type.Optional(Command('program and arguments that undo it')),
  },
  { ...strictly, description: 'a fault' },
);
export type Fault = Static<typeof Fault>;

/** Members by name, whose form is checked apart, so that errors name the member. */
const named = (description: string) =>
  Type.Optional(
    Type.Record(Type.String({ pattern: name }), Type.Unknown(), {
      ...{ maxProperties: MOST_SCENARIOS, description },
    }),
  );

export const LoadFile = Type.Object(
  {
    url: Type.Optional(Type.String({ pattern: urlPattern, description: 'server; see --url' })),
    agents: Type.Optional(
      Type.Integer({
        ...{ minimum: 1, maximum: MOST.agents },
        description: 'agents, one key each (default: the largest of the workloads, or 100)',
      }),
    ),
    batch: Type.Optional(
      Type.Integer({
        ...{ minimum: 0, maximum: MOST.batch },
        description: 'transactions per block (default: the largest of the workloads, or 10)',
      }),
    ),
    warmup: Type.Optional(Duration('time from the start that is not measured', '0s')),
    timeout: span('request timeout', loadDefaults.timeoutMs),
    finalityTimeout: span('transaction timeout', loadDefaults.finalityTimeoutMs),
    connections: Type.Optional(
      Type.Integer({
        ...{ minimum: 1, maximum: 10_000, default: loadDefaults.connections },
        description: 'largest number of HTTP connections; at least one per virtual user',
      }),
    ),
    seed: Type.Optional(Seed(200, 'random seed (default: random)')),
    payload: Type.Optional(
      Type.Union(
        [
          Type.Integer({ minimum: 1, maximum: 60_000, description: 'bytes' }),
          Type.Array(Size, { minItems: 1, maxItems: 1_000, description: 'equally likely sizes' }),
          Type.Object({ from: Size, to: Size }, { ...strictly, description: 'least and most' }),
        ],
        { description: 'size of the data of a transaction and of a meme, in bytes' },
      ),
    ),
    transactions: Type.Optional(FileName('text file whose lines transactions carry in turn')),
    scenarios: Type.Record(Type.String({ pattern: name }), Type.Unknown(), {
      minProperties: 1,
      maxProperties: MOST_SCENARIOS,
      description: 'scenarios by name; all of them run in one load',
      examples: [
        { smoke: { executor: 'constant-arrival-rate', rate: 50, duration: '10s', exec: 'reads' } },
      ],
    }),
    servers: named('servers by name; with --allow-commands'),
    faults: named('faults by name; with --allow-commands'),
    thresholds: Type.Optional(
      Type.Array(Type.Union([Type.String({ minLength: 1, maxLength: 200 }), ThresholdMembers]), {
        maxItems: 100,
        description: 'conditions that must hold at the end, such as p99<200ms',
        examples: [['p95<200ms', 'errors<1%']],
      }),
    ),
  },
  { ...strictly, description: 'a load test' },
);
export type LoadFile = Static<typeof LoadFile>;

export function loadFileJsonSchema(): Record<string, unknown> {
  const {
    description: _,
    properties,
    ...schema
  } = LoadFile as unknown as {
    description: string;
    properties: Record<string, unknown>;
  };
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: 'urn:folkmoot:load-file',
    title: 'Folkmoot load file',
    ...schema,
    properties: {
      ...properties,
      ...Object.fromEntries(
        Object.entries({
          scenarios: { anyOf: Object.values(scenarioSchemas) },
          ...{ servers: Server, faults: Fault },
        }).map(([key, one]) => {
          const { additionalProperties: _, ...rest } = properties[key] as Record<string, unknown>;
          const members = { patternProperties: { [name]: one }, additionalProperties: false };
          return [key, { ...rest, ...members }];
        }),
      ),
    },
  };
}

/** Returns the tables of docs/load-testing.md by name. */
export function loadFileTables(): Record<string, string> {
  const { scenarios: _, servers: __, faults: ___, ...top } = LoadFile.properties;
  return {
    'load file': memberTable(Type.Object(top)),
    'members of scenarios': memberTable(Type.Object(common)),
    'members of servers': memberTable(Server),
    'members of faults': memberTable(Fault),
    actions: formatMarkdownTable(
      ['action', 'effect'],
      Object.entries(faultKinds).map(([kind, text]) => [`\`${kind}\``, text]),
    ),
    executors: formatMarkdownTable(
      ['executor', 'members', 'load'],
      executorNames.map((one) => [
        `\`${one}\``,
        Object.keys(executors[one].members)
          .map((member) => `\`${member}\``)
          .join(', '),
        executors[one].about,
      ]),
    ),
  };
}
