/// <reference lib="dom" />
/** Figures as files: a downloaded figure is complete without the page. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeRunReport } from 'folkmoot/sim';
import type { Page } from 'playwright-core';
import { browserTest, useBrowser } from '../support/browser.js';
import { temporaryFolder } from '../support/fixture.js';
import { show } from './browser.js';
import { keptRun } from './fixture.js';

useBrowser();

async function pictureOf(tab: Page, figure: number, as: 'svg' | 'png') {
  const button = tab.locator('figure').nth(figure).locator(`button[data-as=${as}]`);
  const [download] = await Promise.all([tab.waitForEvent('download'), button.click()]);
  const path = join(temporaryFolder(), download.suggestedFilename());
  await download.saveAs(path);
  return { name: download.suggestedFilename(), bytes: readFileSync(path) };
}

async function report() {
  const folder = temporaryFolder();
  const whom = [{ count: 4 }];
  const faults = [
    { kind: 'partition', start_ms: 20_000, length_ms: 40_000, whom, direction: 'both' },
  ] as const;
  await keptRun(folder, { scenario: { faults: faults.map((one) => ({ ...one, whom })) } });
  await writeRunReport(folder);
  return join(folder, 'report.html');
}

browserTest('pictures: the SVG of each figure is complete on its own', async () => {
  const file = await report();
  const { tab, complaints } = await show(file, { width: 1_000, colorScheme: 'dark' });
  const figures = await tab.locator('figure').count();
  expect(figures).toBe(5);
  for (let figure = 0; figure < figures; figure += 1) {
    const { name, bytes } = await pictureOf(tab, figure, 'svg');
    const text = bytes.toString();
    expect(name).toMatch(/^[a-z-]+\.svg$/);
    // The file needs no colour, font or text from the page, and is light on white in every mode.
    expect(text).not.toMatch(/var\(|class="plot|inherit"/);
    expect(text).toContain('fill="#fff"');
    const caption = await tab.locator('figure').nth(figure).locator('figcaption').textContent();
    const parsed = await tab.evaluate((source) => {
      const svg = new DOMParser().parseFromString(source, 'image/svg+xml').documentElement;
      return { name: svg.nodeName, desc: svg.querySelector('desc')?.textContent ?? '' };
    }, text);
    expect(parsed).toEqual({ name: 'svg', desc: caption });
  }
  expect(complaints.filter((text) => !text.startsWith('blob:'))).toEqual([]);
});

browserTest('pictures: the PNG has three times the resolution and is not empty', async () => {
  const file = await report();
  const { tab, complaints } = await show(file, { width: 390, colorScheme: 'light' });
  const { name, bytes } = await pictureOf(tab, 1, 'png');
  // The name is made from the figure's heading.
  const title = await tab.locator('figure').nth(1).locator('h3').innerText();
  expect(name).toBe(`${title.toLowerCase().replaceAll(' ', '-')}.png`);
  expect(bytes.subarray(1, 4).toString()).toBe('PNG');
  const { naturalWidth, colors } = await tab.evaluate(async (base64) => {
    const image = new Image();
    image.src = `data:image/png;base64,${base64}`;
    await image.decode();
    const canvas = document.createElement('canvas');
    [canvas.width, canvas.height] = [image.naturalWidth, image.naturalHeight];
    const context = canvas.getContext('2d')!;
    context.drawImage(image, 0, 0);
    const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
    const seen = new Set<string>();
    for (let at = 0; at < data.length; at += 4) seen.add([...data.slice(at, at + 3)].join());
    return { naturalWidth: image.naturalWidth, colors: [...seen] };
  }, bytes.toString('base64'));
  expect(naturalWidth).toBe(3 * 880);
  // The colors include the paper and the legend's blue for finalized blocks.
  for (const part of ['255,255,255', '0,114,178']) expect(colors).toContain(part);
  expect(complaints.filter((text) => !text.startsWith('blob:'))).toEqual([]);
});

browserTest('pictures: each shaded period has a name and a time', async () => {
  const file = await report();
  const { tab } = await show(file, { width: 1_000, colorScheme: 'light' });
  for (const figure of [0, 1, 2]) {
    const one = tab.locator('figure').nth(figure);
    const caption = await one.locator('figcaption').textContent();
    expect(caption).toContain('partition from 20 s to 1 min');
    const label = one.locator('svg.wide text', { hasText: 'partition' });
    expect(await label.count()).toBe(1);
    const area = one.locator('svg.wide rect[fill="var(--c8)"]');
    expect(await area.count()).toBeGreaterThan(0);
  }
});
