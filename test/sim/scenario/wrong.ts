/** Scenario files that cannot be meant, by what is wrong with them. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../support/fixture.js';

export const town = 'title: t\nagents:\n  - group: a\n    count: 4\n    producers: 1\n';
const fault = (fields: string) => `${town}faults:\n  - { start_ms: 0, ${fields} }\n`;
/** Each alias has the place of ten of the one before, in parameters, which may be any data. */
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

/** What is in the file; the line that is named, 0 for none; what the message says. */
type Wrong = [what: string, text: string | Buffer, line: number, message: RegExp];

/** One line below the town. */
const below = (what: string, text: string, message: RegExp): Wrong => [
  what,
  `${town}${text}\n`,
  6,
  message,
];

export const wrong: Wrong[] = [
  below('an unknown key', 'colour: red', /^colour is not known here; .*title, question/),
  ['one inside', `${town}consensus:\n  polcy: bft\n`, 7, /^consensus.polcy is not known.*policy,/],
  below('a key of every object', 'constructor: 1', /^constructor is not known here/),
  below('the prototype', '__proto__: { a: 1 }', /^__proto__ is not known here/),
  ['no title', town.slice(9), 1, /^title is missing; expected a text of 1 to 100 characters/],
  below('another type', 'population: many', /^population is "many"; .*1 to 200000/),
  below('a number too large', 'links: { loss: 1.5 }', /^links.loss is 1.5; .*0 to 1/),
  below(
    'an uplink that takes nothing',
    'links: { uplink_kbps: 0 }',
    /^links.uplink_kbps is 0; .*1 to 10000000/,
  ),
  below(
    'an uplink in parts of a kilobit',
    '    uplink_kbps: 0.5',
    /uplink_kbps is 0.5; expected a whole number from 1 to/,
  ),
  below('no number', 'links: { loss: .nan }', /^links.loss is NaN; expected a number/),
  below('a negative latency', 'links: { latency: { mean_ms: -5 } }', /mean_ms is -5; .*1 to/),
  below('a personality', '    personality: [lawful, wise]', /personality.1 is "wise"; .*lawful/),
  below('a strategy', '    strategy: { kind: clever }', /kind is "clever"; .*honest/),
  below('no kind of strategy', '    strategy: {}', /strategy.kind is missing; .*honest/),
  below('a strategy as a text', '    strategy: honest', /is "honest"; .*member kind, one of/),
  below('its parameter', '    strategy: { kind: honest, soundness: 101 }', /is 101; .*0 to 100/),
  below('another parameter', '    strategy: { kind: honest, x: 1 }', /x is not known.*soundness/),
  ['a fault', fault('kind: quake, length_ms: 5, whom: [{}]'), 7, /is "quake"; .*partition, crash/],
  [
    'a fault without end',
    fault('kind: partition, whom: [{}]'),
    7,
    /length_ms is missing; .*from 1/,
  ],
  ['a fault of no one', fault(noOne), 7, /^faults.0.whom names no one/],
  [
    'a fault of nobody known',
    fault('kind: crash, length_ms: 9, whom: [{ group: b }]'),
    7,
    /is b; .*a$/,
  ],
  below('too few validators', 'consensus: { min_validators: 5 }', /is 5; expected at most 4/),
  ['no producer', town.replace('producers: 1', 'producers: 0'), 2, /^agents have no producer/],
  [
    'two rests',
    'title: t\npopulation: 9\nagents:\n  - group: a\n  - group: b\n',
    5,
    /agents.1 has neither/,
  ],
  ['count and share', town.replace('count: 4', 'count: 4\n    share: 0.5'), 3, /count and share/],
  ['too many', `population: 3\n${town}`, 3, /^agents are 4 in all, more than the population of 3/],
  ['too few', `population: 9\n${town}`, 3, /^agents are 4 in all, fewer than/],
  ['no population', town.replace('    count: 4\n', ''), 1, /^population is missing/],
  below('a name twice', '  - { group: a, count: 2 }', /^agents.1.group is a again/),
  below('a censor of nobody', '    strategy: { kind: censor, against: b }', /against is b; .*a$/),
  below('an odd degree', 'topology: { degree: 5 }', /is 5; expected an even number/),
  below('a range upside down', 'producers: { transactions: { least: 6, most: 2 } }', /at most 2/),
  [
    'too many to hear',
    `${town.replace('4', '3000')}topology: { kind: complete }\n`,
    6,
    /at most 2000/,
  ],
  below('no script', '    strategy: { kind: script, module: gone.ts }', /is not there: gone.ts/),
  below(
    'a shape of another distribution',
    'links: { latency: { shape: 2 } }',
    /^links.latency.shape is 2; expected with distribution pareto only/,
  ),
  below(
    'a Pareto distribution without a mean',
    'links: { latency: { distribution: pareto, shape: 1 } }',
    /shape is 1; expected a number from 1.1 to 100/,
  ),
  below(
    'times of no file',
    'links: { latency: { distribution: empirical } }',
    /^links.latency.file is missing; expected a CSV file with distribution empirical/,
  ),
  below(
    'a file of another distribution',
    'links: { latency: { file: a.csv } }',
    /^links.latency.file is a.csv; expected with distribution empirical/,
  ),
  below(
    'a file that is not there',
    'links: { latency: { distribution: empirical, file: gone.csv } }',
    /^links.latency.file is not there: gone.csv/,
  ),
  below(
    'a file from elsewhere',
    'links: { latency: { distribution: empirical, file: /etc/hosts } }',
    /file is \/etc\/hosts; expected a path from the scenario's folder/,
  ),
  below(
    'a probability of another graph',
    'topology: { probability: 0.5 }',
    /^topology.probability is 0.5; expected with kind erdos_renyi only/,
  ),
  [
    'too many by chance',
    `${town.replace('4', '9000')}topology: { kind: erdos_renyi, probability: 0.5 }\n`,
    6,
    /^topology.probability is 0.5: 4500 neighbours of each agent; expected at most 2000/,
  ],
  below(
    'edges of no file',
    'topology: { kind: edges }',
    /^topology.file is missing; expected a CSV file with kind edges/,
  ),
  below(
    'a file of another graph',
    'topology: { file: a.csv }',
    /^topology.file is a.csv; expected with kind edges/,
  ),
  ['nothing', '', 1, /^the scenario is null; expected some of the members title/],
  ['a list', '- a\n', 1, /^the scenario is \["a"\]/],
  ['broken YAML', `${town}links: { loss: 0.1\n`, 7, /must be .*indented and end with a }/],
  below('a key twice', 'title: u', /^Map keys must be unique/),
  ['two documents', twoDocuments, 6, /^a second document begins; expected one/],
  ['depth without end', '['.repeat(200_000), 1, /./],
  below('an alias of nothing', 'links: *nothing', /^Unresolved alias .*nothing/),
  below('an alias of itself', 'links: &a { loss: *a }', /^Circular alias .*&a/),
  ['a bomb of aliases', bombed('1'), 1, /^the scenario has more than 200000 values/],
  ['a bomb of empty lists', bombed('[]'), 1, /^the scenario has more than 200000 values/],
  below('a key that is a list', '? [a, b]\n: 1', /^a key is a list or has members/),
  ['keys in keys', `${'? {'.repeat(400)}a${'}'.repeat(400)}`, 1, /^a key is a list/],
  ['bytes', Buffer.from(Array.from({ length: 512 }, (_, at) => at % 256)), 0, /cannot be read/],
  ['2 MiB', `${town}#${'x'.repeat(2 ** 21)}`, 0, /has 2097\d+ bytes, at most 1048576/],
];

export function fileOf(text: string | Buffer, name = 'town.yaml'): string {
  const file = join(temporaryFolder(), name);
  writeFileSync(file, text);
  return file;
}
