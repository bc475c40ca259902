/**
 * The same votes under a named rule, under lines and under modules. All of them implement `bft`, so
 * they decide after the same votes, and the figures show only the costs of running a rule.
 */
import type { Genesis } from '../../engine/protocol/schema/genesis.js';
import { prepareSandbox } from '../../engine/rules/sandbox.js';
import { completeScenario, simulate } from '../../sim/index.js';
import { defineCase, type Round, type Row } from '../case.js';
import { measureCpuUs, Population } from '../fixtures/population.js';
import { measureTime } from '../raw/raw.js';

interface RulesOptions {
  validators: number;
  /** Votes of the bare engine. */
  votes: number;
  /** Blocks of the simulation. */
  blocks: number;
}

const lines: NonNullable<Genesis['rule']>['lines'] = [
  // biome-ignore lint/suspicious/noThenProperty: part of the published format
  { if: { approve: 3, total: -2 }, then: 'finalized' },
  // biome-ignore lint/suspicious/noThenProperty: part of the published format
  { if: { reject: 3, total: -1, one: 1 }, then: 'rejected' },
];

const decide = `const decide = ({ approve, reject }, total, over) => {
  if (3 * approve > 2 * total) return 'finalized';
  if (3 * reject >= total) return 'rejected';
  return over ? 'expired' : null;
};`;

const weights = `${decide}
export default { decide: (counts, _, over) => decide(counts, counts.total, over) };`;

const tally = `
const totalOf = (electors) => electors.reduce((sum, { weight }) => sum + weight, 0);
const rule = {
  decidesEarly: true,
  tally({ electors, votes, over }) {
    const sums = { approve: 0, reject: 0 };
    for (const { elector, decision } of votes) sums[decision] += electors[elector].weight;
    return { status: decide(sums, totalOf(electors), over) };
  },
};`;

const counter = `
rule.counter = (electors) => {
  const sums = { approve: 0, reject: 0 };
  const total = totalOf(electors);
  return {
    add({ elector, decision }) { sums[decision] += electors[elector].weight; },
    verdict: (over) => ({ status: decide(sums, total, over) }),
  };
};`;

const moduleOf = (source: string): Partial<Genesis> => ({ policy: 'module', rule: { source } });

const rules: [name: string, genesis: Partial<Genesis>][] = [
  ['named rule', { policy: 'bft' }],
  ['lines', { policy: 'lines', rule: { lines } }],
  ['module by weights', moduleOf(weights)],
  ['module with a counter', moduleOf(`${decide}${tally}${counter} export default rule;`)],
];

/** Repeats its tally after each vote, so one block suffices. */
const withoutCounter = moduleOf(`${decide}${tally} export default rule;`);

async function measureRules(
  { validators, votes, blocks }: RulesOptions,
  { seed }: Round,
): Promise<Row[]> {
  await prepareSandbox();
  const rows: Row[] = [];
  for (const [part, cost] of [
    ['engine', engineUs],
    ['simulation', simulatedUs],
  ] as const) {
    // Warms up, because the first rule would otherwise include compilation.
    await cost({ genesis: {}, validators, votes, blocks, seed });
    let named: number | null = null;
    for (const [name, genesis] of rules) {
      const cpu_us = await cost({ genesis, validators, votes, blocks, seed });
      named ??= cpu_us;
      rows.push({ name: `${part}, ${name}`, per_s: 1e6 / cpu_us, cpu_us, ratio: named / cpu_us });
    }
  }
  const asked = { genesis: withoutCounter, validators, votes: 1, blocks, seed };
  const cpu_us = await engineUs(asked);
  rows.push({ name: 'engine, module without a counter', per_s: 1e6 / cpu_us, cpu_us });
  return rows;
}

interface RuleRunOptions extends RulesOptions {
  genesis: Partial<Genesis>;
  seed: string;
}

/** Measures votes in a bare engine. */
async function engineUs({ genesis, validators, votes, seed }: RuleRunOptions): Promise<number> {
  return measureCpuUs('vote', await Population.of(validators, seed, genesis), votes);
}

/** Measures a simulation in memory, without signatures and the auditor. */
async function simulatedUs({ genesis, validators, blocks, seed }: RuleRunOptions): Promise<number> {
  const scenario = completeScenario({
    title: 'One rule',
    agents: [{ group: 'town', count: validators, producers: 20 }],
    consensus: genesis,
    signatures: 'none',
    length: { blocks },
  });
  const options = { seed, store: 'memory', audit: false } as const;
  let votes = 0;
  const { cpu } = await measureTime(async () => {
    const { measures } = await simulate(scenario, options);
    votes = measures.votes ?? 0;
  });
  return (cpu * 1e6) / votes;
}

export const rulesCase = defineCase<RulesOptions>({
  name: 'rules',
  about: 'CPU time of a vote by kind of decision rule; ratio: its rate relative to a named rule',
  sizes: {
    small: { validators: 1_000, votes: 5_000, blocks: 20 },
    large: { validators: 1_000, votes: 20_000, blocks: 100 },
  },
  run: measureRules,
});
