/** Budgets in tokens and money, and answers shared between runs. */
import { appendFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SimOptions } from 'folkmoot/sim';
import { temporaryFolder } from '../../support/fixture.js';
import type { Raw } from '../fixture.js';
import { atOnce, bySoundness, deciderServer, failing, own, runIn, town } from './fixture.js';

const usage = { input_tokens: 70, output_tokens: 30 };
const prices = { other: { input: 10, output: 20 } };
/** Price of an answer: 70 tokens at 10 and 30 at 20 for a million. */
const each = 0.0013;
const counted = (question: never, ...more: [never, never]) => ({
  commands: [bySoundness(question, ...more)],
  usage,
});

async function priced(budget: Raw = {}, sections: Raw = {}) {
  const decider = await deciderServer(counted as never);
  const strategy = { url: decider.url, most_at_once: 1, ...atOnce };
  const of = (limits: Raw = budget) =>
    town(strategy, { budget: { prices, ...limits }, ...sections });
  const folder = temporaryFolder();
  const run = (name: string, limits = budget, more: Partial<SimOptions['deciders']> = {}) =>
    runIn(of(limits), join(folder, name), { deciders: { record: true, ...more } });
  return { decider, folder, run, scenario: of() };
}

const cassette = (folder: string, name: string) =>
  readFileSync(join(folder, name, 'decisions.cassette'), 'utf8');

test('budget: sums tokens and money of a run', async () => {
  const { decider, run } = await priced();
  const { deciders, measures } = await run('whole');
  const { length } = decider.asked;
  expect(deciders!.money).toBeCloseTo(length * each, 9);
  expect(measures.decider_input_tokens).toBe(70 * length);
});

test.each([
  ['tokens', { tokens: 350 }, 4],
  ['money', { money: 3.5 * each }, 4],
])('budget: a limit in %s stops a run, and a higher one continues it', async (_, limit, paid) => {
  const { decider, folder, run } = await priced();
  const whole = await run('whole');
  const all = decider.asked.length;
  decider.asked.length = 0;
  const stopped = await failing(run('part', { run: limit }));
  expect(stopped).toMatchObject({ code: 'BUDGET_SPENT' });
  expect(stopped.message).toContain('budget.run');
  expect(decider.asked).toHaveLength(paid);
  const again = await failing(run('part', { run: limit }));
  expect([again.code, decider.asked.length]).toEqual(['BUDGET_SPENT', paid]);
  const resumed = await run('part', { run: { tokens: 1_000_000 } });
  expect([resumed.digest, decider.asked.length]).toEqual([whole.digest, all]);
  expect(resumed.deciders!.money).toBeCloseTo(all * each, 9);
  expect(cassette(folder, 'part')).toBe(cassette(folder, 'whole'));
});

test('budget: an agent over its limit gives no more answers, also from the cassette', async () => {
  const { decider, folder, run, scenario } = await priced({ agent: { tokens: 150 } });
  const { deciders, digest } = await run('limited');
  const calls = new Map<number, number>();
  for (const { agent } of decider.asked) calls.set(agent, (calls.get(agent) ?? 0) + 1);
  // The second answer of an agent passes its limit.
  expect([...calls.values()].every((count) => count <= 2)).toBe(true);
  expect(deciders!.failures.budget).toBe(deciders!.questions - decider.asked.length);
  expect(deciders!.failures.budget).toBeGreaterThan(0);
  const before = decider.asked.length;
  const replayed = await runIn(scenario, undefined, {
    deciders: { cassette: join(folder, 'limited') },
  });
  expect([replayed.digest, decider.asked.length]).toEqual([digest, before]);
  expect(replayed.deciders!.failures).toEqual(deciders!.failures);
});

test('budget: agents over the limit of a block give no more answers about it', async () => {
  const limit = { decision: { money: 1.5 * each } };
  const { decider, run } = await priced(limit, { length: { blocks: 4 } });
  const { deciders } = await run('limited');
  const asked = new Map<string, number>();
  for (const { view } of decider.asked) {
    const { producer, number } = view.block as unknown as Record<string, number>;
    const key = `${producer}/${number}`;
    asked.set(key, (asked.get(key) ?? 0) + 1);
  }
  expect(asked.size).toBeGreaterThan(1);
  // Questions of one instant are asked together.
  expect([...asked.values()].every((count) => count >= 1 && count <= 4)).toBe(true);
  expect(deciders!.questions).toBe(decider.asked.length + (deciders!.failures.budget ?? 0));
});

test('budget: charges a decider without token counts for the text', async () => {
  const { decider, run } = await priced();
  decider.rule = bySoundness;
  const { deciders } = await run('uncounted');
  const bytes = decider.asked.reduce((sum, { view }) => sum + JSON.stringify(view).length, 0);
  expect(deciders!.input_tokens).toBe(0);
  expect(deciders!.money).toBeGreaterThan((bytes / 4) * 10e-6);
  const stopped = await failing(run('stopped', { run: { tokens: 200 } }));
  expect(stopped).toMatchObject({ code: 'BUDGET_SPENT' });
});

test('budget: counts the tokens of failed calls', async () => {
  const { decider, run } = await priced();
  let turn = 0;
  decider.rule = () => {
    turn += 1;
    return turn % 2 ? { commands: [{ do: 'nothing at all' }], usage } : { commands: [], usage };
  };
  const { deciders } = await run('half');
  expect(deciders!.money).toBeCloseTo(decider.asked.length * each, 9);
});

test('cache: a second run pays nothing, and a repetition with another seed asks anew', async () => {
  const { decider, folder, run, scenario } = await priced();
  const cache = join(folder, 'cache');
  const first = await run('first', {}, { cache });
  const asked = decider.asked.length;
  decider.rule = () => ({ do: 'vote', decision: 'reject' });
  const second = await run('second', {}, { cache });
  expect([second.digest, decider.asked.length]).toEqual([first.digest, asked]);
  expect(second.deciders).toMatchObject({ asked: 0, cached: asked, calls: 0, money: 0 });
  expect(second.deciders!.input_tokens).toBe(first.deciders!.input_tokens);
  const deciders = { record: true, cache };
  const other = await runIn(scenario, join(folder, 'other'), { seed: '2', deciders });
  expect(other.deciders!.cached).toBeUndefined();
  expect(decider.asked.length).toBe(asked + other.deciders!.asked);
  // The cassette of a run with cached answers works without the cache.
  const replayed = await runIn(scenario, undefined, {
    deciders: { cassette: join(folder, 'second') },
  });
  expect(replayed.digest).toBe(first.digest);
});

test('cache: asks another model; uses no damaged or failed answer', async () => {
  const { decider, folder, run } = await priced();
  const cache = join(folder, 'cache');
  await run('first', {}, { cache });
  const asked = decider.asked.length;
  const other = town({ url: decider.url, parameters: { temperature: 1 }, ...atOnce });
  const changed = await runIn(other, join(folder, 'other'), { deciders: { record: true, cache } });
  expect(changed.deciders!.cached).toBeUndefined();
  const files = readdirSync(cache, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.json'),
  );
  expect(files.length).toBe(asked + changed.deciders!.asked);
  const damages: ((path: string) => void)[] = [
    (path) => appendFileSync(path, '{'),
    (path) => writeFileSync(path, ''),
    (path) => {
      const kept = JSON.parse(readFileSync(path, 'utf8')) as { answer: Raw };
      const answer = { ...kept.answer, commands: [{ do: 'state', value: 1 }] };
      writeFileSync(path, JSON.stringify({ ...kept, answer }));
    },
  ];
  for (const [index, name] of files.entries()) damages[index % 3]!(join(cache, name));
  expect((await run('repaired', {}, { cache })).deciders!.asked).toBe(asked);
  decider.rule = (_, response) => {
    response.writeHead(500).end();
    return own;
  };
  const failed = join(folder, 'failed');
  await run('failures', {}, { cache: failed });
  expect(existsSync(failed)).toBe(false);
});
