/** Tests what the page says of a run first: its identity, its course, its agents and its graph. */
import { join } from 'node:path';
import { browserTest, useBrowser } from '../../support/browser.js';
import { suiteFolder } from '../../support/runs.js';
import { modes, open } from '../browser.js';
import { explored, keptRun } from '../folder.js';
import { viewOf } from '../voters.js';

const folder = suiteFolder();
let [town, few] = ['', ''];
useBrowser(async () => {
  const size = ['--blocks', '12', '--unsigned', '--seed', '5'];
  town = await keptRun(join(folder, 'town'), 'healthy-town', ...size);
  few = await keptRun(join(folder, 'few'), '--agents', '6', ...size);
});

browserTest('identity: names the scenario, its question, seed, rule and verdict', async () => {
  const url = await explored(town);
  const { tab, complaints } = await open(`${url}/ui/now`, modes.light);
  const identity = tab.locator('.identity');
  await identity.getByText('A healthy town').waitFor();
  const words = await identity.innerText();
  for (const word of ['seed 5', 'rule bft', '100 agents']) expect(words).toContain(word);
  // The view answers the question, and says what the verdict was judged by.
  const { blocks } = await viewOf(url);
  const final = blocks.filter(({ status }) => status === 'finalized').length;
  const said = await tab.locator('.answer', { hasText: 'Verdict pass: ' }).innerText();
  const wanted = `^How fast .*\\n${final} of \\d+ blocks were finalized.* 0 broken safety rules`;
  expect(said).toMatch(new RegExp(wanted, 's'));
  expect(await tab.getByTestId('verdict').innerText()).toBe('verdict: pass');
  const groups = await tab
    .locator('nav .group ul')
    .evaluateAll((lists) => lists.map((list) => list.getAttribute('aria-label')));
  expect(groups).toEqual(['Watch', 'Understand', 'Verify']);
  expect(complaints).toEqual([]);
});

browserTest('course: shows four measures at the position, and moves to a block', async () => {
  const url = await explored(town);
  const { tab, complaints } = await open(`${url}/ui/now`, modes.light);
  const charts = tab.locator('.course');
  await expect.poll(() => charts.count()).toBe(4);
  const line = charts.first().locator('.course-line');
  await expect.poll(() => line.getAttribute('d')).toMatch(/^M.*L/);
  const { blocks } = await viewOf(url);
  const ended = blocks.filter(({ closed_at }) => closed_at !== null);
  const last = ended.sort((one, other) => one.closed_at! - other.closed_at!).slice(-20);
  const final = last.filter(({ status }) => status === 'finalized').length;
  const share = `${Math.round((100 * final) / last.length)} %`;
  expect(await charts.first().locator('b').innerText()).toBe(share);
  const where = tab.locator('.where span');
  const before = await where.innerText();
  const box = (await charts.nth(2).locator('svg').boundingBox())!;
  await tab.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
  await expect.poll(() => where.innerText()).not.toBe(before);
  // The part of the run after the position is dimmed.
  await charts.first().locator('.course-ahead').waitFor();
  expect(complaints).toEqual([]);
});

browserTest('agents: a few agents are cards with a name, a vote and last words', async () => {
  const url = await explored(few);
  const { tab, complaints } = await open(`${url}/ui/now`, modes.light);
  const cards = tab.locator('.cards li');
  await expect.poll(() => cards.count()).toBe(6);
  expect(await cards.locator('q').count()).toBeGreaterThan(0);
  await cards.first().getByRole('link').click();
  await expect.poll(() => new URL(tab.url()).pathname).toMatch(/^\/ui\/agent\/agent_/);
  expect(complaints).toEqual([]);
});

browserTest('network: draws the graph, and lists the agents by links', async () => {
  const url = await explored(town);
  const { data } = (await (await fetch(`${url}/api/v1/scenario`)).json()) as {
    data: { graph: { edges: [number, number][] } };
  };
  const degrees = new Array<number>(100).fill(0);
  for (const edge of data.graph.edges) for (const end of edge) degrees[end]! += 1;
  const { tab, complaints } = await open(`${url}/ui/network`, modes.light);
  const canvas = tab.locator('.plane canvas');
  await canvas.waitFor();
  const inked = () =>
    canvas.evaluate((element: HTMLCanvasElement) => {
      const { width, height } = element;
      const { data: pixels } = element.getContext('2d')!.getImageData(0, 0, width, height);
      let count = 0;
      for (let at = 3; at < pixels.length; at += 4) if (pixels[at]! > 0) count += 1;
      return count;
    });
  await expect.poll(inked).toBeGreaterThan(2_000);
  await tab.getByRole('button', { name: 'Network graph as a table' }).click();
  const first = tab.locator('tbody tr').first();
  expect(await first.locator('td').first().innerText()).toBe(String(Math.max(...degrees)));
  expect(complaints).toEqual([]);
});
