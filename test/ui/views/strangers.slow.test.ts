/** What strangers really post to a live server, up to its limits: on every view it is only text. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { clientOf, live } from '../../client/helpers.js';
import { executablePath, hasBrowser, launch, modes, open } from '../browser.js';
import { isLive } from '../voters.js';

const needs = `(needs ${executablePath})`;
let browser: Browser;
beforeAll(async () => {
  if (hasBrowser) browser = await launch();
});
afterAll(() => browser?.close());

const markup = '<img src=x onerror="globalThis.struck=1"><script>globalThis.struck=2</script>';
const turned = '\u202egnp.eleg\u202c \u2066zero\u200bwidth\u2069\ufeff \u0627\u0644';
const foreign = '<link rel=stylesheet href=//strangers.invalid/x><iframe src=//strangers.invalid>';
const stacked = 'Z\u0351\u036b\u0343\u036a\u0302'.repeat(10);
const texts = [markup, turned, foreign, 'W'.repeat(64), stacked];
/** As long as a field lets it be. */
const filled = (text: string, most: number) =>
  text.repeat(Math.ceil(most / text.length)).slice(0, most);

const gif = (side: number) =>
  Buffer.concat([
    Buffer.from('GIF89a'),
    Buffer.from([side & 255, side >> 8, side & 255, side >> 8, 0x80, 0, 0]),
    Buffer.from('000000ffffff2c00000000', 'hex'),
    Buffer.from([side & 255, side >> 8, side & 255, side >> 8, 0, 2, 2, 0x44, 1, 0, 0x3b]),
  ]);
/** By its first bytes an image, and no more than that. */
const png = (side: number) => {
  const head = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');
  const size = Buffer.alloc(8);
  size.writeUInt32BE(side, 0);
  size.writeUInt32BE(side, 4);
  return Buffer.concat([head, size, Buffer.from('0802000000deadbeef', 'hex'), Buffer.alloc(64)]);
};

async function peopled() {
  const { url } = await live({ genesis: { voting_period_ms: 600_000 } });
  const capabilities = ['validator', 'producer'] as const;
  const agents = [];
  for (const [place, text] of texts.entries()) {
    const agent = clientOf(url, place + 1);
    const about = { personality: 'rational', description: filled(text, 512), capabilities };
    await agent.register({ ...about, name: filled(text, 64) });
    agents.push(agent);
  }
  const [ada, bob, cy] = agents as [(typeof agents)[0], (typeof agents)[0], (typeof agents)[0]];
  const files = [gif(30_000), gif(1), png(40_000), png(4), `See ${filled(markup, 1_000_000)}`];
  for (const [place, file] of files.entries()) {
    await ada.postMeme({ file, caption: filled(texts[place % texts.length]!, 280), tags: ['b'] });
  }
  const target_ids = [bob.agentId, cy.agentId];
  await ada.proposeAlliance({ target_ids, purpose: filled(markup, 256) });
  const { block_hash } = await ada.propose({
    transactions: texts.map((text) => filled(text, 1_300)),
    meme_content: { type: 'text', content: filled(foreign, 2_048), tags: [] },
    state_diff: { additions: { key: filled(markup, 3_000) }, deletions: {} },
  });
  for (const [place, agent] of agents.entries()) {
    const message = filled(texts[place]!, 2_048);
    await agent.discuss({ block_hash, message, sentiment: 'neutral' });
  }
  await bob.vote({ block_hash, decision: 'reject', reason: filled(markup, 1_024) });
  await cy.vote({ block_hash, decision: 'approve', reason: filled(turned, 1_024) });
  return { url, block_hash, agent: bob.agentId };
}

const struck = (tab: Page) =>
  tab.evaluate(() => ({
    ran: (globalThis as { struck?: number }).struck ?? 0,
    made: document.querySelectorAll('body :is(img, iframe, script, link, svg script)').length,
    turns: /[\u202a-\u202e\u2066-\u2069\u200b\u2060\ufeff]/.test(document.body.innerText),
    wide: document.documentElement.scrollWidth - document.documentElement.clientWidth,
  }));

test.skipIf(!hasBrowser)(`strangers: every view shows them as text ${needs}`, async () => {
  const { url, block_hash, agent } = await peopled();
  const paths = ['now', 'agents', 'agents?as=table', `agents?sel=${agent}`, 'opinion', 'alliances'];
  const more = ['talk', `block/${block_hash}`, `agent/${agent}`, 'explore', 'doctor'];
  for (const path of [...paths, ...more]) {
    for (const mode of ['light', 'narrow'] as const) {
      const { tab, complaints } = await open(browser, `${url}/ui/${path}`, modes[mode]);
      await isLive(tab);
      await tab.waitForLoadState('networkidle');
      expect([path, await struck(tab)]).toEqual([path, { ran: 0, made: 0, turns: false, wide: 0 }]);
      expect([path, complaints]).toEqual([path, []]);
      await tab.close();
    }
  }
});

test.skipIf(!hasBrowser)(
  `strangers: their files are opened still, or not at all ${needs}`,
  async () => {
    const { url } = await peopled();
    const { tab, complaints } = await open(browser, `${url}/ui/talk`, modes.light);
    const memes = tab.locator('.memes li');
    await expect.poll(() => memes.count()).toBe(5);
    // The newest first: a long text, a damaged image, a huge one, a small one, a huge one.
    const words = [
      /The rest is not shown/,
      /The image is damaged/,
      /40000 by 40000 pixels: so large an image is not opened/,
      /It moves; this is its first picture/,
      /30000 by 30000 pixels: so large an image is not opened/,
    ];
    for (const [place, said] of words.entries()) {
      const meme = memes.nth(place);
      await meme.getByRole('button').click();
      await meme.getByText(said).waitFor();
    }
    expect(await memes.locator('canvas').count()).toBe(1);
    expect(await struck(tab)).toEqual({ ran: 0, made: 0, turns: false, wide: 0 });
    expect(complaints).toEqual([]);
  },
);
