/** Tests a cluster node's page: the list of nodes, and a node that is cut off. */
import { browserTest, useBrowser } from '../../support/browser.js';
import { agents, expectSame, openNode, registration, served } from '../../support/cluster/nodes.js';
import { MemoryOrder } from '../../support/cluster/order.js';
import { accessFaults, checkedModes, modes, open, overflow } from '../browser.js';

useBrowser();

async function three() {
  const order = new MemoryOrder();
  const nodes = await Promise.all(['n1', 'n2', 'n3'].map((name) => openNode(order, { name })));
  for (const by of agents) await nodes[0]!.submit(registration(by));
  await expectSame(order, nodes);
  const [n1, n2, n3] = nodes as [(typeof nodes)[0], (typeof nodes)[0], (typeof nodes)[0]];
  return { order, n1, n2, n3, url: `${await served(n2)}/ui/now` };
}

browserTest('cluster: lists all nodes and marks silent ones', async () => {
  const { n3, url } = await three();
  const { tab, complaints } = await open(url, modes.light);
  const panel = tab.getByRole('region', { name: 'Nodes', exact: true });
  await panel.getByText('n2 serves this page. 1 of 1 etcd member answers.').waitFor();
  const names = await panel.getByRole('rowheader').allInnerTexts();
  expect(names).toEqual(['n1', 'n2 (this page)', 'n3']);
  await expect.poll(() => panel.getByRole('cell', { name: 'alive' }).count()).toBe(3);
  await n3.close();
  await panel.getByRole('cell', { name: 'silent' }).waitFor();
  expect([await tab.getByRole('alert').count(), complaints]).toEqual([0, []]);
});

browserTest('cluster: reports a node that is cut off in every view', async () => {
  const { n2, url } = await three();
  const { tab, complaints } = await open(url, modes.light);
  await tab.getByRole('region', { name: 'Nodes', exact: true }).waitFor();
  n2.door.shut = true;
  const alert = tab.getByTestId('cut-off');
  await alert.getByText('n2').waitFor();
  await tab.getByText(/for \d+ s\.$/).waitFor();
  await tab.getByRole('link', { name: 'Agents', exact: true }).click();
  await tab.getByRole('heading', { name: 'Agents' }).first().waitFor();
  expect(await alert.count()).toBe(1);
  n2.door.shut = false;
  await alert.waitFor({ state: 'detached' });
  expect(complaints).toEqual([]);
});

browserTest.each(checkedModes)('cluster: passes axe and does not overflow, %s', async (name) => {
  const { n2, url } = await three();
  const { tab, complaints } = await open(url, modes[name]);
  const panel = tab.getByRole('region', { name: 'Nodes', exact: true });
  await panel.waitFor();
  expect(await accessFaults(tab)).toEqual([]);
  n2.door.shut = true;
  await tab.getByRole('alert').waitFor();
  expect([await overflow(tab), await accessFaults(tab), complaints]).toEqual([0, [], []]);
});
