/** Runs that the page of `folkmoot sim --watch` starts: equal to the command line, and bounded. */
import type { ControlCommand } from 'folkmoot/api';
import type { RunsView } from '../../../dist/api/contract/control.js';
import { simJson } from '../../support/command.js';
import { begin } from '../../support/running-command.js';
import { type Page, pageOf } from './page.js';

const size = ['healthy-town', '--blocks', '3', '--seed', '7', '--set', 'agents.town.count=30'];
const paused = [...size, '--watch=paused', '--speed', 'max', '--json'];

let alone = '';
beforeAll(async () => {
  alone = (await simJson(...size)).json.digest;
});

const runsOf = (page: Page) => page.read<RunsView>('/api/v1/runs');

async function ended(page: Page): Promise<RunsView> {
  const goes = ({ runs }: RunsView) =>
    runs.some(({ state }) => state === 'running' || state === 'waiting');
  await expect.poll(async () => goes(await runsOf(page)), { timeout: 60_000 }).toBe(false);
  return runsOf(page);
}

test('runs of the page: equal the same command, in pairs, and change no digest', async () => {
  const begun = begin(['sim', ...paused]);
  const page = await pageOf(begun);
  const { parameters } = await runsOf(page);
  expect(parameters.find(({ path }) => path === 'consensus.policy')).toMatchObject({
    ...{ kind: 'choice', value: 'bft', choices: expect.arrayContaining(['majority']) },
  });
  const changes = [{ path: 'producers.transactions.most', value: 9 }];
  expect(await page.ask({ do: 'run', changes })).toBe(200);
  const first = await ended(page);
  expect(first.runs.map(({ seed, state }) => [seed, state])).toEqual([
    ['7', 'done'],
    ['7', 'done'],
  ]);
  // The scenario as given is the watched run itself.
  expect(first.runs[0]!.digest).toBe(alone);
  const changed = ['--set', 'producers.transactions.most=9'];
  expect(first.runs[1]!.digest).toBe((await simJson(...size, ...changed)).json.digest);
  const words = 'healthy-town --blocks 3 --seed 7 --set agents.town.count=30';
  expect(first.runs[1]!.command.split(' sim ')[1]).toBe(`${words} ${changed.join(' ')}`);

  // A second seed makes a second pair; the interval needs both.
  expect(await page.ask({ do: 'run', seed: '8', changes })).toBe(200);
  const { comparisons, runs } = await ended(page);
  expect(runs).toHaveLength(4);
  const [votes] = comparisons[0]!.measures.filter(({ measure }) => measure === 'transactions');
  const [a, b, c, d] = runs.map(({ measures }) => measures!.transactions!);
  expect(votes).toMatchObject({ pairs: 2, difference: (b! - a! + (d! - c!)) / 2 });

  // A fork keeps the entries before it, and its command repeats it.
  const later = [{ path: 'producers.block_interval_ms', value: 9_000 }];
  const fork: ControlCommand = { do: 'run', from_entry: 40, changes: later };
  expect(await page.ask(fork)).toBe(200);
  const forked = (await ended(page)).runs.at(-1)!;
  const [, interventions] = /'interventions=(.*)'/.exec(forked.command)!;
  const again = await simJson(...size, '--set', `interventions=${interventions}`);
  expect([forked.from_entry, forked.digest]).toEqual([40, again.json.digest]);
  expect(new Set([alone, first.runs[1]!.digest, forked.digest]).size).toBe(3);

  // The command waits at its end, because the reader compares.
  expect(await page.ask({ do: 'resume' })).toBe(200);
  await begun.printed(/paused at its end/);
  expect(await page.ask({ do: 'resume' })).toBe(200);
  expect((await begun.ended).code).toBe(0);
  expect((JSON.parse(begun.stdout()) as { digest: string }).digest).toBe(alone);
});

test('runs of the page: refuse what the panel does not offer, and a second run', async () => {
  const begun = begin(['sim', ...paused]);
  const page = await pageOf(begun);
  const refusals: [number, unknown][] = [
    [400, { changes: [{ path: 'title', value: 'other' }] }],
    [400, { changes: [{ path: 'agents.town.strategy.module', value: '/etc/passwd' }] }],
    [400, { changes: [{ path: '__proto__.polluted', value: true }] }],
    [400, { changes: [{ path: 'agents.town.count', value: 10_001 }] }],
    [400, { changes: [{ path: 'agents.town.count', value: 1.5 }] }],
    [400, { changes: [{ path: 'length.blocks', value: 1_000_000 }] }],
    [400, { changes: [{ path: 'consensus.policy', value: 'lottery' }] }],
    [400, { changes: [{ path: 'agents.town.producers', value: 0 }] }],
    [400, { changes: [{ path: 'consensus.policy', value: 'majority' }], from_entry: 5 }],
    [400, { changes: Array.from({ length: 33 }, () => ({ path: 'seed', value: 1 })) }],
    [400, { seed: 'x'.repeat(101) }],
    [413, { seed: 'x'.repeat(100_000) }],
  ];
  for (const [status, more] of refusals) {
    const command = { do: 'run', ...(more as object) } as ControlCommand;
    expect([more, await page.ask(command)]).toEqual([more, status]);
  }
  expect((await runsOf(page)).runs).toEqual([]);
  const there = `${page.url}/api/v1/control`;
  const body = JSON.stringify({ do: 'run' });
  expect((await fetch(there, { method: 'POST', body })).status).toBe(401);

  const changes = [{ path: 'length.blocks', value: 1_000 }];
  const both = [page.ask({ do: 'run', changes }), page.ask({ do: 'run', changes })];
  expect((await Promise.all(both)).sort()).toEqual([200, 409]);
  expect(await page.ask({ do: 'cancel' })).toBe(200);
  const { runs } = await ended(page);
  expect(runs.every(({ state }) => state === 'cancelled' || state === 'done')).toBe(true);
  expect(await begun.stop('SIGINT')).toEqual({ code: null, signal: 'SIGINT' });
});
