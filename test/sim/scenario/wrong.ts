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
export const wrong: [what: string, text: string | Buffer, line: number, message: RegExp][] = [
  ['an unknown key', `${town}colour: red\n`, 6, /^colour is not known here; .*title, question/],
  ['one inside', `${town}consensus:\n  polcy: bft\n`, 7, /^consensus.polcy is not known.*policy,/],
  ['a key of every object', `${town}constructor: 1\n`, 6, /^constructor is not known here/],
  ['the prototype', `${town}__proto__: { a: 1 }\n`, 6, /^__proto__ is not known here/],
  ['no title', town.slice(9), 1, /^title is missing; expected a text of 1 to 100 characters/],
  ['another type', `${town}population: many\n`, 6, /^population is "many"; .*1 to 200000/],
  ['a number too large', `${town}links: { loss: 1.5 }\n`, 6, /^links.loss is 1.5; .*0 to 1/],
  [
    'an uplink that takes nothing',
    `${town}links: { uplink_kbps: 0 }\n`,
    6,
    /^links.uplink_kbps is 0; .*1 to 10000000/,
  ],
  [
    'an uplink in parts of a kilobit',
    `${town}    uplink_kbps: 0.5\n`,
    6,
    /uplink_kbps is 0.5; expected a whole number from 1 to/,
  ],
  ['no number', `${town}links: { loss: .nan }\n`, 6, /^links.loss is NaN; expected a number/],
  [
    'a negative latency',
    `${town}links: { latency: { mean_ms: -5 } }\n`,
    6,
    /mean_ms is -5; .*1 to/,
  ],
  [
    'a personality',
    `${town}    personality: [lawful, wise]\n`,
    6,
    /personality.1 is "wise"; .*lawful/,
  ],
  ['a strategy', `${town}    strategy: { kind: clever }\n`, 6, /kind is "clever"; .*honest/],
  ['no kind of strategy', `${town}    strategy: {}\n`, 6, /strategy.kind is missing; .*honest/],
  [
    'a strategy as a text',
    `${town}    strategy: honest\n`,
    6,
    /is "honest"; .*member kind, one of/,
  ],
  [
    'its parameter',
    `${town}    strategy: { kind: honest, soundness: 101 }\n`,
    6,
    /is 101; .*0 to 100/,
  ],
  [
    'another parameter',
    `${town}    strategy: { kind: honest, x: 1 }\n`,
    6,
    /x is not known.*soundness/,
  ],
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
  [
    'too few validators',
    `${town}consensus: { min_validators: 5 }\n`,
    6,
    /is 5; expected at most 4/,
  ],
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
  ['a name twice', `${town}  - { group: a, count: 2 }\n`, 6, /^agents.1.group is a again/],
  [
    'a censor of nobody',
    `${town}    strategy: { kind: censor, against: b }\n`,
    6,
    /against is b; .*a$/,
  ],
  ['an odd degree', `${town}topology: { degree: 5 }\n`, 6, /is 5; expected an even number/],
  [
    'a range upside down',
    `${town}producers: { transactions: { least: 6, most: 2 } }\n`,
    6,
    /at most 2/,
  ],
  [
    'too many to hear',
    `${town.replace('4', '3000')}topology: { kind: complete }\n`,
    6,
    /at most 2000/,
  ],
  [
    'no script',
    `${town}    strategy: { kind: script, module: gone.ts }\n`,
    6,
    /is not there: gone.ts/,
  ],
  [
    'a shape of another distribution',
    `${town}links: { latency: { shape: 2 } }\n`,
    6,
    /^links.latency.shape is 2; expected with distribution pareto only/,
  ],
  [
    'a Pareto distribution without a mean',
    `${town}links: { latency: { distribution: pareto, shape: 1 } }\n`,
    6,
    /shape is 1; expected a number from 1.1 to 100/,
  ],
  [
    'times of no file',
    `${town}links: { latency: { distribution: empirical } }\n`,
    6,
    /^links.latency.file is missing; expected a CSV file with distribution empirical/,
  ],
  [
    'a file of another distribution',
    `${town}links: { latency: { file: a.csv } }\n`,
    6,
    /^links.latency.file is a.csv; expected with distribution empirical/,
  ],
  [
    'a file that is not there',
    `${town}links: { latency: { distribution: empirical, file: gone.csv } }\n`,
    6,
    /^links.latency.file is not there: gone.csv/,
  ],
  [
    'a file from elsewhere',
    `${town}links: { latency: { distribution: empirical, file: /etc/hosts } }\n`,
    6,
    /file is \/etc\/hosts; expected a path from the scenario's folder/,
  ],
  [
    'a probability of another graph',
    `${town}topology: { probability: 0.5 }\n`,
    6,
    /^topology.probability is 0.5; expected with kind erdos_renyi only/,
  ],
  [
    'too many by chance',
    `${town.replace('4', '9000')}topology: { kind: erdos_renyi, probability: 0.5 }\n`,
    6,
    /^topology.probability is 0.5: 4500 neighbours of each agent; expected at most 2000/,
  ],
  [
    'edges of no file',
    `${town}topology: { kind: edges }\n`,
    6,
    /^topology.file is missing; expected a CSV file with kind edges/,
  ],
  [
    'a file of another graph',
    `${town}topology: { file: a.csv }\n`,
    6,
    /^topology.file is a.csv; expected with kind edges/,
  ],
  ['nothing', '', 1, /^the scenario is null; expected some of the members title/],
  ['a list', '- a\n', 1, /^the scenario is \["a"\]/],
  ['broken YAML', `${town}links: { loss: 0.1\n`, 7, /must be .*indented and end with a }/],
  ['a key twice', `${town}title: u\n`, 6, /^Map keys must be unique/],
  ['two documents', twoDocuments, 6, /^a second document begins; expected one/],
  ['depth without end', '['.repeat(200_000), 1, /./],
  ['an alias of nothing', `${town}links: *nothing\n`, 6, /^Unresolved alias .*nothing/],
  ['an alias of itself', `${town}links: &a { loss: *a }\n`, 6, /^Circular alias .*&a/],
  ['a bomb of aliases', bombed('1'), 1, /^the scenario has more than 200000 values/],
  ['a bomb of empty lists', bombed('[]'), 1, /^the scenario has more than 200000 values/],
  ['a key that is a list', `${town}? [a, b]\n: 1\n`, 6, /^a key is a list or has members/],
  ['keys in keys', `${'? {'.repeat(400)}a${'}'.repeat(400)}`, 1, /^a key is a list/],
  ['bytes', Buffer.from(Array.from({ length: 512 }, (_, at) => at % 256)), 0, /cannot be read/],
  ['2 MiB', `${town}#${'x'.repeat(2 ** 21)}`, 0, /has 2097\d+ bytes, at most 1048576/],
];

export function fileOf(text: string | Buffer, name = 'town.yaml'): string {
  const file = join(temporaryFolder(), name);
  writeFileSync(file, text);
  return file;
}
