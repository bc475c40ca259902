/** Agents that vote on a live server, and checks that a page shows all of their votes. */
import { isDeepStrictEqual } from 'node:util';
import type { AgentClient } from 'folkmoot/client';
import type { Locator, Page } from 'playwright-core';
import type { Snapshot } from '../../dist/api/view/model.js';
import { agentOf } from '../client/helpers.js';

/** Locates the page badge that shows the connection state. */
export const connection = (tab: Page) => tab.getByTestId('connection');
export const isLive = (tab: Page) => connection(tab).getByText('live', { exact: true }).waitFor();
export const isFinished = (tab: Page) => connection(tab).getByText('finished run').waitFor();
/** Locates the band on a page that has lost its server. */
export const lostBand = (tab: Page) => tab.getByTestId('lost');
/** Excludes the browser's messages about an unreachable server. */
export const own = (line: string) => !/net::ERR_|WebSocket connection to/.test(line);

export async function viewOf(url: string): Promise<Snapshot> {
  return ((await (await fetch(`${url}/api/v1/view`)).json()) as { data: Snapshot }).data;
}

/**
 * Waits until the page's totals equal the server's totals. The server adds metrics entries
 * meanwhile.
 */
export async function expectWhole(tab: Page, url: string): Promise<void> {
  const wrong = async () => {
    const { totals, entry } = await viewOf(url);
    const figures = {
      'final blocks': totals.finalized,
      votes: totals.votes,
      remarks: totals.remarks,
    };
    const expected = { ...figures, entry };
    return { expected, shown: await shownOn(tab, Object.keys(figures)) };
  };
  await expect.poll(wrong).toSatisfy(({ expected, shown }) => isDeepStrictEqual(shown, expected));
}

async function shownOn(tab: Page, names: string[]): Promise<Record<string, number>> {
  const shown: Record<string, number> = {};
  for (const name of names) {
    const figure = tab.locator('.figures div', { has: tab.getByText(name, { exact: true }) });
    shown[name] = await numberIn(figure.locator('dd'), /^([\d,]+)$/);
  }
  return { ...shown, entry: await entryShown(tab) };
}

/** Returns the entry that a page shows. */
export const entryShown = (tab: Page) => numberIn(tab.locator('.where'), /entry ([\d,]+)/);

const numberIn = async (locator: Locator, pattern: RegExp) =>
  Number(pattern.exec(await locator.innerText())?.[1]?.replaceAll(',', ''));

/** Registers three agents. The returned function makes the agents finalize a number of blocks. */
export async function voters(url: string) {
  const agents: AgentClient[] = [];
  for (const seed of [1, 2, 3]) agents.push(await agentOf(url, seed));
  let count = 0;
  return async (blocks: number) => {
    for (let block = 0; block < blocks; block += 1) {
      count += 1;
      const { block_hash } = await agents[0]!.propose({ transactions: [`number ${count}`] });
      for (const agent of agents) await agent.vote({ block_hash, decision: 'approve' });
    }
  };
}
