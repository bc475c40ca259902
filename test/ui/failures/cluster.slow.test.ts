/** The page of one of several nodes: which there are, and that one which is cut off says so. */
import { type ServerOptions, startServer } from 'folkmoot/api';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { executablePath, hasBrowser, launch } from '../../support/browser.js';
import { agents, expectSame, openNode, registration } from '../../support/cluster/nodes.js';
import { MemoryOrder } from '../../support/cluster/order.js';
import { accessFaults, checkedModes, modes, open } from '../browser.js';

let browser: Browser;
beforeAll(async () => {
  if (hasBrowser) browser = await launch();
});
afterAll(() => browser?.close());

const needs = `(needs ${executablePath})`;

async function three() {
  const order = new MemoryOrder();
  const nodes = await Promise.all(['n1', 'n2', 'n3'].map((name) => openNode(order, { name })));
  for (const by of agents) await nodes[0]!.submit(registration(by));
  await expectSame(order, nodes);
  const [n1, n2, n3] = nodes as [(typeof nodes)[0], (typeof nodes)[0], (typeof nodes)[0]];
  // The compiler knows the sources' and the built package's types as two.
  const network = n2.network as unknown as ServerOptions['network'];
  const server = await startServer({
    network,
    cluster: n2.network.status,
    version: '0.0.0-test',
    limits: 'off',
  });
  onTestFinished(() => server.close());
  return { order, n1, n2, n3, url: `${server.url}/ui/now` };
}

test.skipIf(!hasBrowser)(`cluster: all nodes, and those that are gone ${needs}`, async () => {
  const { n3, url } = await three();
  const { tab, complaints } = await open(browser, url, modes.light);
  const panel = tab.getByRole('region', { name: 'Nodes', exact: true });
  await panel.getByText('n2 serves this page. 1 of 1 member of etcd answers.').waitFor();
  const names = await panel.getByRole('rowheader').allInnerTexts();
  expect(names).toEqual(['n1', 'n2 (this page)', 'n3']);
  await expect.poll(() => panel.getByRole('cell', { name: 'alive' }).count()).toBe(3);
  await n3.close();
  await panel.getByRole('cell', { name: 'silent' }).waitFor();
  expect(await tab.getByRole('alert').count()).toBe(0);
  expect(complaints).toEqual([]);
});

test.skipIf(!hasBrowser)(
  `cluster: a node that is cut off says so in any view ${needs}`,
  async () => {
    const { order, n2, url } = await three();
    const { tab, complaints } = await open(browser, url, modes.light);
    await tab.getByRole('region', { name: 'Nodes', exact: true }).waitFor();
    n2.door.shut = true;
    const alert = tab.getByRole('alert');
    await alert.getByText('The node n2 is cut off').waitFor();
    await tab.getByText(/It has not heard of the order for \d+ s/).waitFor();
    await tab.getByRole('link', { name: 'Agents', exact: true }).click();
    await tab.getByRole('heading', { name: 'Agents' }).first().waitFor();
    expect(await alert.innerText()).toMatch(/^The node n2 is cut off: .*may be old/);
    n2.door.shut = false;
    order.news();
    await alert.waitFor({ state: 'detached' });
    expect(complaints).toEqual([]);
  },
);

test.skipIf(!hasBrowser).each(checkedModes)(
  `cluster: axe finds nothing, and nothing is wider than the page, %s ${needs}`,
  async (name) => {
    const { n2, url } = await three();
    const { tab, complaints } = await open(browser, url, modes[name]);
    const panel = tab.getByRole('region', { name: 'Nodes', exact: true });
    await panel.waitFor();
    expect(await accessFaults(tab)).toEqual([]);
    n2.door.shut = true;
    await tab.getByRole('alert').waitFor();
    const wide = await tab.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    );
    expect(wide).toBe(0);
    expect(await accessFaults(tab)).toEqual([]);
    expect(complaints).toEqual([]);
  },
);
