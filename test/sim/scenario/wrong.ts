import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ScenarioError } from 'folkmoot/sim';
import { temporaryFolder } from '../../support/fixture.js';

export const town = 'title: t\nagents:\n  - group: a\n    count: 4\n    producers: 1\n';
const fault = (fields: string) => `${town}faults:\n  - { start_ms: 0, ${fields} }\n`;
/** Each alias contains ten of the previous one, in parameters, which may be any data. */
const bombed = (innermost: string) =>
  `${town}    strategy:\n      kind: script\n      module: m.js\n      parameters:\n${Array.from(
    { length: 8 },
    (_, at) => {
      const inner = at === 0 ? innermost : `*b${at - 1}`;
      return `        x${at}: &b${at} [${Array(10).fill(inner).join(',')}]\n`;
    },
  ).join('')}`;

const noOne = 'kind: crash, length_ms: 9, whom: [{ share: 0.1 }]';
const twoDocuments = `${town}---\n${town}`;

/** `line` is the reported line, 0 for none. `key` is the code and path of the problem. */
type Wrong = [what: string, text: string | Buffer, line: number, key: string];

/** Appends a text to the town, whose error is reported in line 6. */
const below = (text: string, key: string): Wrong => [text.trim(), `${town}${text}\n`, 6, key];

/** Code and path of a problem, or the code of another error. */
export const keyOf = ({ code, problem }: ScenarioError): string =>
  problem === null ? `${code}` : `${problem.code} ${problem.path.join('.')}`.trim();

export const wrong: Wrong[] = [
  below('colour: red', 'UNKNOWN_KEY colour'),
  ['an unknown nested key', `${town}consensus:\n  polcy: bft\n`, 7, 'UNKNOWN_KEY consensus.polcy'],
  below('constructor: 1', 'UNKNOWN_KEY constructor'),
  below('__proto__: { a: 1 }', 'UNKNOWN_KEY __proto__'),
  ['no title', town.slice(9), 1, 'MISSING title'],
  below('population: many', 'INVALID_VALUE population'),
  below('links: { loss: 1.5 }', 'INVALID_VALUE links.loss'),
  below('links: { uplink_kbps: 0 }', 'INVALID_VALUE links.uplink_kbps'),
  below('    uplink_kbps: 0.5', 'INVALID_VALUE agents.0.uplink_kbps'),
  below('links: { loss: .nan }', 'INVALID_VALUE links.loss'),
  below('links: { latency: { mean_ms: -5 } }', 'INVALID_VALUE links.latency.mean_ms'),
  below('    personality: [lawful, wise]', 'INVALID_VALUE agents.0.personality.1'),
  below('    strategy: { kind: clever }', 'INVALID_VALUE agents.0.strategy.kind'),
  below('    strategy: {}', 'MISSING agents.0.strategy.kind'),
  below('    strategy: honest', 'INVALID_VALUE agents.0.strategy'),
  below(
    '    strategy: { kind: honest, soundness: 101 }',
    'INVALID_VALUE agents.0.strategy.soundness',
  ),
  below('    strategy: { kind: honest, x: 1 }', 'UNKNOWN_KEY agents.0.strategy.x'),
  ['a fault', fault('kind: quake, length_ms: 5, whom: [{}]'), 7, 'INVALID_VALUE faults.0.kind'],
  ['a fault without length', fault('kind: partition, whom: [{}]'), 7, 'MISSING faults.0.length_ms'],
  ['a fault without agents', fault(noOne), 7, 'NO_AGENTS faults.0.whom'],
  [
    'a fault of an unknown group',
    fault('kind: crash, length_ms: 9, whom: [{ group: b }]'),
    7,
    'INVALID_VALUE faults.0.whom.0.group',
  ],
  below('consensus: { min_validators: 5 }', 'INVALID_VALUE consensus.min_validators'),
  ['no producer', town.replace('producers: 1', 'producers: 0'), 2, 'NO_PRODUCER agents'],
  [
    'two groups for the rest',
    'title: t\npopulation: 9\nagents:\n  - group: a\n  - group: b\n',
    5,
    'SECOND_REST agents.1',
  ],
  ['two sizes', town.replace('count: 4', 'count: 4\n    share: 0.5'), 3, 'EXPECTED_ONE agents.0'],
  ['too many agents', `population: 3\n${town}`, 3, 'WRONG_SUM agents'],
  ['too few agents', `population: 9\n${town}`, 3, 'WRONG_SUM agents'],
  ['no population', town.replace('    count: 4\n', ''), 1, 'MISSING population'],
  below('  - { group: a, count: 2 }', 'DUPLICATE agents.1.group'),
  below('    strategy: { kind: censor, against: b }', 'INVALID_VALUE agents.0.strategy.against'),
  below('topology: { degree: 5 }', 'INVALID_VALUE topology.degree'),
  below(
    'producers: { transactions: { least: 6, most: 2 } }',
    'INVALID_VALUE producers.transactions.least',
  ),
  [
    'a complete graph that is too large',
    `${town.replace('4', '3000')}topology: { kind: complete }\n`,
    6,
    'TOO_LARGE topology.kind',
  ],
  below(
    '    strategy: { kind: script, module: gone.ts }',
    'FILE_NOT_FOUND agents.0.strategy.module',
  ),
  below('links: { latency: { shape: 2 } }', 'ONLY_WITH links.latency.shape'),
  below(
    'links: { latency: { distribution: pareto, shape: 1 } }',
    'INVALID_VALUE links.latency.shape',
  ),
  below('links: { latency: { distribution: empirical } }', 'MISSING links.latency.file'),
  below('links: { latency: { file: a.csv } }', 'ONLY_WITH links.latency.file'),
  below(
    'links: { latency: { distribution: empirical, file: gone.csv } }',
    'FILE_NOT_FOUND links.latency.file',
  ),
  below(
    'links: { latency: { distribution: empirical, file: /etc/hosts } }',
    'FILE_NOT_RELATIVE links.latency.file',
  ),
  below('topology: { probability: 0.5 }', 'ONLY_WITH topology.probability'),
  [
    'a random graph that is too dense',
    `${town.replace('4', '9000')}topology: { kind: erdos_renyi, probability: 0.5 }\n`,
    6,
    'TOO_DENSE topology.probability',
  ],
  below('topology: { kind: edges }', 'MISSING topology.file'),
  below('topology: { file: a.csv }', 'ONLY_WITH topology.file'),
  ['an empty file', '', 1, 'INVALID_VALUE'],
  ['a list', '- a\n', 1, 'INVALID_VALUE'],
  ['broken YAML', `${town}links: { loss: 0.1\n`, 7, 'NOT_YAML'],
  below('title: u', 'NOT_YAML'),
  ['two documents', twoDocuments, 6, 'NOT_YAML'],
  ['excessive nesting', '['.repeat(200_000), 1, 'NOT_YAML'],
  below('links: *nothing', 'NOT_YAML'),
  below('links: &a { loss: *a }', 'NOT_YAML'),
  ['exponential aliases', bombed('1'), 1, 'TOO_MANY_VALUES'],
  ['exponential aliases of empty lists', bombed('[]'), 1, 'TOO_MANY_VALUES'],
  below('? [a, b]\n: 1', 'NOT_YAML'),
  ['nested keys', `${'? {'.repeat(400)}a${'}'.repeat(400)}`, 1, 'NOT_YAML'],
  ['binary data', Buffer.from(Array.from({ length: 512 }, (_, at) => at % 256)), 0, 'UNREADABLE'],
  ['2 MiB', `${town}#${'x'.repeat(2 ** 21)}`, 0, 'UNREADABLE'],
];

export function fileOf(text: string | Buffer, name = 'town.yaml'): string {
  const file = join(temporaryFolder(), name);
  writeFileSync(file, text);
  return file;
}

export function errorOf(run: () => unknown): ScenarioError {
  try {
    run();
  } catch (error) {
    expect(error).toBeInstanceOf(ScenarioError);
    return error as ScenarioError;
  }
  throw new Error('no error');
}
