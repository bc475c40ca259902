/** Causes in runs whose agents are external deciders: a planted influencer, its reach, budgets. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runCommand } from '../../support/command.js';
import { temporaryFolder } from '../../support/fixture.js';
import { csvRows } from '../../support/runs.js';
import { deciderServer, type Posted } from '../deciders/fixture.js';

const AGENTS = 9;
const ROUNDS = 2;

interface Shown {
  deliberation: {
    round: number;
    own: string | null;
    statements: { agent: number; value: string }[];
  };
  chance: number;
}

/** Ring of agents. All repeat the influencer's value if they see it, or a neighbour that does. */
async function ring(influencer: number) {
  const decider = await deciderServer(({ agent, view }: Posted) => {
    const { deliberation, chance } = view as unknown as Shown;
    const { own, statements } = deliberation;
    if (agent === influencer) return { do: 'state', value: 'approve' };
    const led = statements.some((one) => one.agent === influencer && one.value === 'approve');
    // One agent in four begins with approval.
    return { do: 'state', value: led ? 'approve' : (own ?? (chance % 4 ? 'reject' : 'approve')) };
  });
  const folder = temporaryFolder();
  const file = join(folder, 'ring.yaml');
  const strategy = {
    kind: 'http',
    url: decider.url,
    backoff_ms: 0,
    retries: 0,
    asks: ['deliberate'],
  };
  const scenario = {
    ...{ title: 'a ring', signatures: 'none', length: { blocks: 1 } },
    agents: [{ group: 'ring', count: AGENTS, producers: 1, strategy }],
    deliberation: { rounds: ROUNDS, sees: 'nearest', nearest: 6 },
    consensus: { policy: 'majority', participation: 0, dormant_after: 0 },
    social: {
      memes: { rate: 0 },
      discussion: { rate: 0 },
      alliances: { rate: 0 },
      breaks: { rate: 0 },
    },
  };
  writeFileSync(file, JSON.stringify(scenario));
  return { decider, folder, file };
}

async function recorded(influencer: number, seed: number) {
  const { decider, folder, file } = await ring(influencer);
  const out = join(folder, 'run');
  const run = await runCommand(['sim', file, '--seed', `${seed}`, '--record', '--out', out]);
  expect([0, 10], run.stderr).toContain(run.code);
  const [block] = csvRows(join(out, 'blocks.csv'));
  const names = csvRows(join(out, 'agents.csv')).map(({ name }) => name!);
  decider.asked.length = 0;
  const why = async (...more: string[]) => {
    const args = ['why', out, block!.block_hash!, '--record', '--kind', 'agent', '--json', ...more];
    const { code, stdout, stderr } = await runCommand(args);
    expect(code, stderr).toBe(0);
    return JSON.parse(stdout).attribution.recorded;
  };
  return { decider, folder, out, names, why, block: block! };
}

test('why: names the planted influencer in 19 of 20 runs', async () => {
  let named = 0;
  for (let seed = 1; seed <= 20; seed += 1) {
    const influencer = seed % AGENTS;
    const { decider, names, why } = await recorded(influencer, seed);
    const { rows, calls } = await why();
    expect(rows).toHaveLength(AGENTS);
    expect(calls).toBe(decider.asked.length);
    if (rows[0].name === names[influencer] && rows[0].flipped > 0) named += 1;
  }
  expect(named).toBeGreaterThanOrEqual(19);
});

test('why: asks no agent outside the reach of the candidate', async () => {
  const influencer = 4;
  const { decider, out, names, why } = await recorded(influencer, 7);
  await why();
  decider.asked.length = 0;
  const whom = [{ agent: names[influencer]! }];
  const silence = JSON.stringify({ kind: 'silence', whom, at_ms: 0 });
  const args = ['fork', out, '--record', '--intervention', silence, '--out', `${out}-fork`];
  expect((await runCommand(args)).code).toBe(0);
  const asked = decider.asked.filter(({ kind }) => kind === 'deliberate');
  expect(asked.length).toBeGreaterThan(0);
  for (const { agent } of asked) {
    const apart = Math.abs(agent - influencer);
    expect(Math.min(apart, AGENTS - apart)).toBeLessThanOrEqual(3 * (ROUNDS - 1));
  }
});

test('why: stops at its budget, and continues with a cache', async () => {
  const { decider, folder, why } = await recorded(4, 7);
  const whole = await why();
  const all = decider.asked.length;
  decider.asked.length = 0;
  const cache = join(folder, 'answers');
  const part = await why('--most-calls', '5', '--cache', cache);
  expect([part.calls, decider.asked.length]).toEqual([5, 5]);
  expect(part.untested).toBeGreaterThan(0);
  const rest = await why('--cache', cache);
  expect(decider.asked.length).toBe(all);
  const members = ({ name, status, flipped }: Record<string, unknown>) => ({
    name,
    status,
    flipped,
  });
  expect(rest.rows.map(members)).toEqual(whole.rows.map(members));
  expect([(await why('--cache', cache)).calls, decider.asked.length]).toEqual([0, all]);
});

test('fork: replaces one model, and asks only agents that see the change', async () => {
  const influencer = 4;
  const { decider, out, names } = await recorded(influencer, 7);
  const other = await deciderServer(() => ({ do: 'state', value: 'reject' }));
  const swap = {
    ...{ kind: 'strategy', at_entry: AGENTS + 1, whom: [{ agent: names[influencer]! }] },
    strategy: { kind: 'http', url: other.url, asks: ['deliberate'] },
  };
  const args = ['--record', '--intervention', JSON.stringify(swap), '--out', `${out}-swap`];
  const { code, stdout, stderr } = await runCommand(['fork', out, ...args, '--json']);
  expect(code, stderr).toBe(0);
  const { prefix, first } = JSON.parse(stdout);
  expect(prefix.same).toBe(true);
  expect(first).not.toBeNull();
  expect(new Set(other.asked.map(({ agent }) => agent))).toEqual(new Set([influencer]));
  expect(other.asked).toHaveLength(ROUNDS);
  expect(decider.asked.every(({ agent }) => agent !== influencer)).toBe(true);
  for (const { agent } of decider.asked) {
    const apart = Math.abs(agent - influencer);
    expect(Math.min(apart, AGENTS - apart)).toBeLessThanOrEqual(3);
  }
});
