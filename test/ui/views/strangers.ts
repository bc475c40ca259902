/// <reference lib="dom" />
/** Posts hostile text up to the server limits, and checks that a page shows it only as text. */
import type { Page } from 'playwright-core';
import { clientOf } from '../../client/helpers.js';

export const markup =
  '<img src=x onerror="globalThis.struck=1"><script>globalThis.struck=2</script>';
const turned = '\u202egnp.eleg\u202c \u2066zero\u200bwidth\u2069\ufeff \u0627\u0644';
const foreign = '<link rel=stylesheet href=//strangers.invalid/x><iframe src=//strangers.invalid>';
const stacked = 'Z\u0351\u036b\u0343\u036a\u0302'.repeat(10);
const texts = [markup, turned, foreign, 'W'.repeat(64), stacked];
/** Repeats a string until it fills a length. */
export const filled = (text: string, most: number) =>
  text.repeat(Math.ceil(most / text.length)).slice(0, most);

const gif = (side: number) =>
  Buffer.concat([
    Buffer.from('GIF89a'),
    Buffer.from([side & 255, side >> 8, side & 255, side >> 8, 0x80, 0, 0]),
    Buffer.from('000000ffffff2c00000000', 'hex'),
    Buffer.from([side & 255, side >> 8, side & 255, side >> 8, 0, 2, 2, 0x44, 1, 0, 0x3b]),
  ]);
/** A PNG header without image data. */
const png = (side: number) => {
  const head = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');
  const size = Buffer.alloc(8);
  size.writeUInt32BE(side, 0);
  size.writeUInt32BE(side, 4);
  return Buffer.concat([head, size, Buffer.from('0802000000deadbeef', 'hex'), Buffer.alloc(64)]);
};

/** Keeps blocks in voting. */
export const genesis = { voting_period_ms: 600_000 };

/** Registers five agents, and fills every text field on a server up to its limit. */
export async function peopled(url: string): Promise<{ block_hash: string; agent: string }> {
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
  return { block_hash, agent: bob.agentId };
}

/** Returns the effects of hostile text on the page. */
export const struck = (tab: Page) =>
  tab.evaluate(() => ({
    ran: (globalThis as { struck?: number }).struck ?? 0,
    made: document.querySelectorAll('#page :is(img, iframe, script, link, svg script)').length,
    turns: /[\u202a-\u202e\u2066-\u2069\u200b\u2060\ufeff]/.test(document.body.innerText),
    wide: document.documentElement.scrollWidth - document.documentElement.clientWidth,
  }));

export const harmless = { ran: 0, made: 0, turns: false, wide: 0 };

/** Returns the paths of views that show hostile text. */
export const pathsOf = ({ block_hash, agent }: { block_hash: string; agent: string }) => [
  ...['now', 'agents', 'agents?as=table', `agents?sel=${agent}`, 'opinion', 'alliances'],
  ...['talk', `block/${block_hash}`, `agent/${agent}`, 'explore', 'doctor'],
];
