/** Tests exported files with hostile text, and damaged files. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { executablePath, hasBrowser, launch } from '../../support/browser.js';
import { folkmoot } from '../../support/cli.js';
import { begin } from '../../support/running-command.js';
import { suiteFolder } from '../../support/runs.js';
import { ally, discuss, meme } from '../../support/service/signer.js';
import { World } from '../../support/service/world.js';
import { newTab } from '../browser.js';
import { fileUrl, offline, settled } from './file.js';

const needs = `(needs ${executablePath})`;
const folder = suiteFolder();
let browser: Browser;
beforeAll(async () => {
  if (hasBrowser) browser = await launch();
});
afterAll(() => browser?.close());

test.skipIf(!hasBrowser)(`exported: reports a damaged file ${needs}`, async () => {
  const run = join(folder, 'run');
  expect((await folkmoot(['sim', '--agents', '20', '--blocks', '2', '--out', run])).code).toBe(0);
  expect((await folkmoot(['explore', run, '--export'])).code).toBe(0);
  const text = readFileSync(join(run, 'run.html'), 'utf8');
  const place = text.indexOf('id="run">') + 2_000;
  for (const [name, damaged] of [
    ['short', text.slice(0, place)],
    ['cut', text.slice(0, text.indexOf('id="run"'))],
    [
      'changed',
      `${text.slice(0, place)}${text[place] === 'A' ? 'B' : 'A'}${text.slice(place + 1)}`,
    ],
  ] as const) {
    const path = join(folder, `${name}.html`);
    writeFileSync(path, damaged);
    const tab = await newTab(browser);
    await tab.goto(fileUrl(path));
    await tab.getByRole('alert').waitFor();
  }
});

/** A one-pixel PNG. */
const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5E' +
    'rkJggg==',
  'base64',
);

const views = 'now agents opinion alliances talk agent block explore'.split(' ');

const hostile = [
  '</script><script>alert(1)</script>',
  '<!--<script>',
  '\u2028\u2029alert(2)//',
  '\u202egnirts\u202c desrever',
  ']]><img src=x onerror=alert(3)>',
];

test.skipIf(!hasBrowser)(`exported: shows hostile texts as text only ${needs}`, async () => {
  // The folder name is also hostile.
  const data = join(folder, `"><img src=x onerror=alert(4)>\u2028\u202e`);
  const server = begin(['serve', '--data', data, '--port', '0', '--limits', 'bench']);
  const [line] = await server.printed(/^\{.*\}\n/);
  const { url: at, ws_url: wsUrl } = JSON.parse(line!) as { url: string; ws_url: string };
  const world = new World({ url: at, wsUrl });
  const agents = [];
  for (const text of hostile) agents.push(await world.join(text, { description: text }));
  const [first, second] = agents as [(typeof agents)[0], (typeof agents)[0]];
  const hash = await world.propose(first);
  for (const [place, text] of hostile.entries()) {
    await world.do(discuss(agents[place]!, { block_hash: hash, message: text }));
    await world.do(meme(agents[place]!, { file: `A file of ${text}`, caption: text }));
  }
  // The fourth vote decides.
  for (const [place, text] of hostile.slice(0, 4).entries()) {
    await world.vote(agents[place]!, hash, { reason: text });
  }
  await world.do(
    ally.propose(first, { purpose: hostile[0], duration: 'PT1H', target_ids: [second.agentId] }),
  );
  await world.do(meme(first, { file: PIXEL }));
  await world.do(meme(second, { file: Buffer.concat([PIXEL, Buffer.alloc(300 * 1_024, 7)]) }));
  const out = join(folder, 'hostile.html');
  const ended = await folkmoot(['explore', data, '--export', out]);
  expect(ended.code, ended.stderr).toBe(0);
  await server.stop();

  const text = readFileSync(out, 'utf8');
  expect([/[^\n -~]/.test(text), /<(?:img|!--)/.test(text)]).toEqual([false, false]);
  for (const view of views) {
    const item = view === 'block' ? hash : view === 'agent' ? first.agentId : null;
    const { tab, complaints } = await offline(browser, out, { view, item });
    await settled(tab);
    for (const button of await tab.locator('.meme button').all()) await button.click();
    await settled(tab);
    const seen = await tab.evaluate(() => ({
      made: document.querySelectorAll('main img, main script, main [onerror]').length,
      turns: /[\u2028\u202a-\u202e\u2066-\u2069]/.test(document.body.innerText),
    }));
    expect([view, seen, complaints]).toEqual([view, { made: 0, turns: false }, []]);
    if (view === 'talk') {
      const said = await tab.locator('main').innerText();
      expect(said.split('A file of ').length).toBe(1 + hostile.length);
      expect(await tab.locator('canvas[role=img]').count()).toBe(1);
      // One meme exceeds the size limit in an exported file.
      expect(await tab.locator('.meme [role=alert]').count()).toBe(1);
    }
    await tab.close();
  }
});
