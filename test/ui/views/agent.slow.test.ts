/// <reference lib="dom" />
/** Tests agents from a scenario: vote explanations, neighbours and groups. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { History } from 'folkmoot';
import type { Page } from 'playwright-core';
import { browserTest, useBrowser } from '../../support/browser.js';
import { folkmoot } from '../../support/cli.js';
import { csvRows, suiteFolder } from '../../support/runs.js';
import { drawnFrom, seed } from '../../support/seeded.js';
import { world } from '../../support/service/server.js';
import { agentOf } from '../../support/service/signer.js';
import { accessFaults, checkedModes, modes, open, overflow } from '../browser.js';
import { copyOf, explore } from '../folder.js';

const folder = suiteFolder();
const run = join(folder, 'run');
let url = '';
let history: History;
/** Agent ids, by index in the scenario. */
let ids: string[] = [];

const scenario = {
  title: 'towns',
  agents: [
    { group: 'town', count: 26, producers: 2 },
    { group: 'harbour', count: 10 },
    { group: 'late', count: 4, join: { start_ms: 12_000, over_ms: 2_000, waves: 1, every_ms: 1 } },
    { group: 'sheep', count: 4, strategy: { kind: 'follower' } },
  ],
  topology: { kind: 'groups', degree: 8, rewired: 0.3 },
  faults: [{ kind: 'partition', start_ms: 14_000, length_ms: 20_000, whom: [{ group: 'late' }] }],
  interventions: [{ kind: 'silence', whom: [{ agent: 5 }], at_ms: 6_000 }],
  measure: { decisions: true },
  length: { blocks: 8 },
};

interface Line {
  block: number;
  agent: number;
  decision: string;
  score: number | null;
  threshold: number;
  contributions: Record<string, number> | null;
}
let lines: Line[] = [];

useBrowser(async () => {
  const file = join(folder, 'towns.json');
  writeFileSync(file, JSON.stringify(scenario));
  expect((await folkmoot(['sim', file, '--seed', '4', '--out', run])).code).toBe(0);
  const text = readFileSync(join(run, 'decisions.ndjson'), 'utf8').trimEnd();
  lines = text.split('\n').map((line) => JSON.parse(line) as Line);
  history = History.open({ path: join(run, 'network'), checkpoints: false });
  url = await explore(run, (stop) => afterAll(stop));
  const { data } = (await (await fetch(`${url}/api/v1/scenario`)).json()) as {
    data: { groups: { agents: string[] }[] };
  };
  ids = data.groups.flatMap(({ agents }) => agents);
});
afterAll(async () => {
  await history?.close();
});

const shown = (value: number) => value.toLocaleString('en');
const signed = (value: number) => `${value > 0 ? '+' : ''}${shown(Math.round(value))}`;
const figure = (tab: Page, name: string) => tab.getByRole('figure', { name, exact: true });

/** Draws entries and agents. */
function* drawn(rounds: number) {
  const draw = drawnFrom(seed);
  for (let round = 0; round < rounds; round += 1) {
    yield { entry: draw(history.end.seq + 1), place: draw(ids.length) };
  }
}

browserTest('agent: shows the recorded explanation of votes', async () => {
  for (const { entry, place } of drawn(8)) {
    const { read } = await history.at(entry);
    const number = read.record('agents', ids[place]!)?.ordinal ?? -1;
    const voted = [...read.records('votes')]
      .filter(({ key }) => (key as readonly number[])[1] === number)
      .sort((a, b) => b.value.entry - a.value.entry);
    const [newest] = voted;
    const { tab } = await open(`${url}/ui/agent/${ids[place]}?at=${entry}`);
    const why = figure(tab, 'Vote explanation');
    if (!newest) {
      await tab.waitForTimeout(300);
      expect(await why.count()).toBe(0);
      await tab.close();
      continue;
    }
    const block = (newest.key as readonly number[])[0]!;
    const line = lines.find((one) => one.block === block && one.agent === place)!;
    const { block_hash } = read.record('block_numbers', block)!;
    const { height } = read.record('blocks', block_hash)!.context;
    const choice = why.getByLabel('Explained vote');
    await expect.poll(() => choice.inputValue()).toBe(block_hash);
    const options = await choice.locator('option').allInnerTexts();
    expect([options.length, options[0]]).toEqual([
      voted.length,
      `Block ${height}: ${line.decision}`,
    ]);
    if (line.contributions) {
      const sum = Object.values(line.contributions).reduce((all, one) => all + one, 0);
      const numbers = await why.locator('.why-bar .number').allInnerTexts();
      const { content, neighbours, memes, whim } = line.contributions as Record<string, number>;
      expect(numbers).toEqual([content!, neighbours!, memes!, whim!, sum].map(signed));
      const words = await why.locator('figcaption').innerText();
      expect(words).toContain(`score ${shown(line.score!)}, threshold ${shown(line.threshold)}`);
    }
    await why.getByRole('button', { name: 'as a table' }).click();
    const table = why.getByRole('table').last();
    expect(await table.getByRole('row').count()).toBe(voted.length + 1);
    await tab.close();
  }
});

browserTest('agent: explains a selected vote', async () => {
  const judged = lines.filter(({ contributions }) => contributions !== null);
  const { agent } = judged[0]!;
  const own = judged.filter((line) => line.agent === agent);
  const { tab, complaints } = await open(`${url}/ui/agent/${ids[agent]}`);
  const why = figure(tab, 'Vote explanation');
  const { read } = await history.at(history.end.seq);
  for (const { block, score } of own) {
    const { block_hash } = read.record('block_numbers', block)!;
    await why.getByLabel('Explained vote').selectOption(block_hash);
    await why.getByText(`score ${shown(score!)},`).waitFor();
  }
  expect(complaints).toEqual([]);
});

browserTest('agent: counts votes without a record', async () => {
  const { agent } = lines.find(({ contributions }) => contributions !== null)!;
  const own = lines.filter((line) => line.agent === agent);
  const copy = copyOf(run);
  const keep = async (kept: Line[]) => {
    const text = kept.map((line) => `${JSON.stringify(line)}\n`).join('');
    writeFileSync(join(copy, 'decisions.ndjson'), text);
    const at = await explore(copy, (stop) => onTestFinished(stop));
    return open(`${at}/ui/agent/${ids[agent]}`);
  };
  const { tab } = await keep(lines.filter((line) => line !== own[0] && line !== own[1]));
  await figure(tab, 'Vote explanation')
    .getByText(/2 votes .*decisions\.ndjson/)
    .waitFor();
  const { tab: none } = await keep(lines.filter((line) => line.agent !== agent));
  await none.getByText(new RegExp(`^${own.length} votes? .*decisions\\.ndjson`)).waitFor();
  const { tab: all } = await keep(lines);
  await figure(all, 'Vote explanation')
    .getByText(/score -?[\d,]+, threshold/)
    .waitFor();
  expect(await all.getByText('decisions.ndjson').count()).toBe(0);
});

browserTest('agent: shows the neighbours of the run with their votes', async () => {
  const edges = csvRows(join(run, 'edges.csv')).map(({ a, b }) => [Number(a), Number(b)]);
  for (const { entry, place } of drawn(8)) {
    const { read, position } = await history.at(entry);
    if (!read.record('agents', ids[place]!)) continue;
    const own = edges
      .flatMap(([a, b]) => (a === place ? b! : b === place ? a! : []))
      .sort((a, b) => a - b);
    const ms = position.at - Date.UTC(2025, 0, 1);
    const late = (agent: number) => agent >= 36 && agent < 40;
    const cut = (from: number, to: number) =>
      (from === 5 && ms >= 6_000) || (late(from) !== late(to) && ms >= 14_000 && ms < 34_000);
    const open_ = [...read.blocks()];
    const focus = open_.findLast(({ status }) => status === 'voting') ?? open_[0];
    const block = focus && read.record('blocks', focus.block_hash)!.context.ordinal;
    const expected = own.map((other) => {
      const agent = read.record('agents', ids[other]!);
      const passes = [cut(other, place), cut(place, other)].map((is) => (is ? 'cut off' : 'yes'));
      if (!agent) return ['not registered', ...passes];
      const vote = block === undefined ? undefined : read.record('votes', [block, agent.ordinal]);
      return [vote ? `${vote.decision}s` : 'not voted', ...passes];
    });
    const { tab } = await open(`${url}/ui/agent/${ids[place]}?at=${entry}`);
    const ego = figure(tab, 'Neighbours');
    const there = expected.filter(([vote]) => vote !== 'not registered').length;
    // The ring may be drawn before the page has reached the entry.
    const marks = async () => [
      await ego.locator('.ego svg a').count(),
      await ego.locator('.ego svg .absent').count(),
    ];
    await expect.poll(marks).toEqual([there, own.length - there]);
    await ego.getByRole('button', { name: 'as a table' }).click();
    // The votes arrive after the ring is drawn.
    const found = async () => {
      const rows = await ego
        .getByRole('row')
        .evaluateAll((all) =>
          all.slice(1).map((row) => [...row.querySelectorAll('td')].map((cell) => cell.innerText)),
        );
      return rows.map(([vote, hears, heard]) => [spoken(vote!), hears, heard]);
    };
    await expect.poll(found, { message: `${seed} ${entry} ${place}` }).toEqual(expected);
    await tab.close();
  }
});

/** Maps all states without a vote to a single state. */
const spoken = (vote: string) => (/^has not|^is away|^does not/.test(vote) ? 'not voted' : vote);

browserTest('agent: follows the link of a neighbour', async () => {
  const { tab, complaints } = await open(`${url}/ui/agent/${ids[0]}`);
  const link = figure(tab, 'Neighbours').locator('.ego svg a').first();
  await link.focus();
  const name = (await link.getAttribute('aria-label'))!.split(' ')[0]!;
  await tab.keyboard.press('Enter');
  await tab.getByRole('heading', { level: 1, name: new RegExp(`^${name} `) }).waitFor();
  await tab.goBack();
  await tab.waitForURL(`**/agent/${ids[0]}`);
  expect(complaints).toEqual([]);
});

browserTest('agents: groups and colours agents by scenario group', async () => {
  // Groups are the default bands of a scenario with several groups.
  const { tab, complaints } = await open(`${url}/ui/agents?color=group`);
  // Bands are by personality until the groups are loaded.
  const named = () => tab.locator('.band-name').allInnerTexts();
  await expect.poll(named).toEqual(['town 26', 'harbour 10', 'late 4', 'sheep 4']);
  expect((await tab.locator('.legend').innerText()).split('\n').map((line) => line.trim())).toEqual(
    scenario.agents.map(({ group }) => group),
  );
  await tab.getByRole('button', { name: 'Table' }).click();
  await tab.getByRole('columnheader', { name: 'group' }).waitFor();
  await tab.goto(`${url}/ui/agents?band=group&sel=${ids[27]}&at=2`);
  await expect.poll(() => tab.locator('.band-name').count()).toBeLessThan(4);
  expect(complaints).toEqual([]);
});

browserTest('agents: offers no groups without a scenario', async () => {
  const there = await world();
  const [ada] = await there.joinAll('ada', 'bob');
  const { tab, complaints } = await open(`${there.url}/ui/agents?band=group`);
  await tab.getByRole('button', { name: 'personality' }).first().waitFor();
  expect(await tab.getByRole('button', { name: 'group' }).count()).toBe(0);
  await tab.goto(`${there.url}/ui/agent/${ada!.agentId}`);
  await tab.locator('[aria-label=Neighbours] .faint').waitFor();
  await tab.locator('[aria-label="Vote explanation"] .faint').waitFor();
  await tab.goto(`${there.url}/ui/agent/${ada!.agentId}?at=1`);
  await tab.locator('[aria-label=Reputation] .faint').waitFor();
  expect(complaints).toEqual([]);
});

browserTest('agents: shows a hostile group name as text only', async () => {
  const name = '<img src=x onerror=alert(1)>\u202egnirts\u200b'.repeat(40);
  const groups = [{ name, agents: [agentOf('ada').agentId] }];
  const there = await world({ server: { scenario: { title: name, groups, faults: [] } } });
  await there.joinAll('ada', 'bob');
  const { tab, complaints } = await open(`${there.url}/ui/agents?band=group&color=group`);
  onTestFinished(() => tab.close());
  await tab.locator('.band-name').nth(1).waitFor();
  const names = await tab
    .locator('.band-name')
    .evaluateAll((all) =>
      all.map((name) => `${(name as HTMLElement).offsetLeft} ${(name as HTMLElement).offsetTop}`),
    );
  expect(new Set(names).size).toBe(names.length);
  const seen = await tab.evaluate(() => ({
    images: document.querySelectorAll('main img').length,
    turns: /[\u202a-\u202e\u200b]/.test(document.body.innerText),
    wide: document.documentElement.scrollWidth - document.documentElement.clientWidth,
  }));
  expect([seen, complaints]).toEqual([{ images: 0, turns: false, wide: 0 }, []]);
});

const views = () => [
  `agent/${ids[14]}`,
  `agent/${ids[38]}?at=${history.end.seq - 200}`,
  'agents?band=group&color=group',
];

browserTest.each(checkedModes)('agent: passes axe and does not overflow, %s', async (mode) => {
  for (const path of views()) {
    const { tab, complaints } = await open(`${url}/ui/${path}`, modes[mode]);
    for (const twin of ['', 'table'] as const) {
      if (twin && path.startsWith('agents')) continue;
      if (!path.startsWith('agents')) await figure(tab, 'Neighbours').waitFor();
      expect([path, await accessFaults(tab)]).toEqual([path, []]);
      expect([path, await overflow(tab)]).toEqual([path, 0]);
      const tables = await tab.getByRole('button', { name: 'as a table' }).all();
      for (const button of tables) await button.click();
    }
    expect([path, complaints.filter((line) => !/status of 503/.test(line))]).toEqual([path, []]);
    await tab.close();
  }
});
