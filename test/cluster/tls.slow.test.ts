/** `serve --cluster` and `cluster status` over an etcd that requires client certificates. */
import { join } from 'node:path';
import { readTls } from '../../dist/cluster/etcd/wire.js';
import { folkmoot } from '../support/cli.js';
import { certificates } from '../support/cluster/certificates.js';
import { expectKept } from '../support/cluster/history.js';
import { update } from '../support/cluster/load.js';
import { expectTogether, insist, nodeProcess } from '../support/cluster/processes.js';
import { etcd, hasEtcd, ready } from '../support/etcd.js';
import { temporaryFolder } from '../support/fixture.js';
import { agentOf, register } from '../support/service/signer.js';

type Certificates = ReturnType<typeof certificates>;

const flagsOf = (files: Partial<Certificates>) =>
  Object.entries(files).flatMap(([what, path]) => [`--cluster-${what}`, path]);

test.skipIf(!hasEtcd)('nodes over TLS: an untrusted client fails with one line', async () => {
  const ours = certificates('ours');
  const theirs = certificates('theirs');
  const order = await etcd({ tls: ours });
  await ready(order.endpoints, readTls(ours)!);
  const folder = temporaryFolder();
  const args = flagsOf(ours);
  const start = (name: string) =>
    nodeProcess({ cluster: order.url, name, folder: join(folder, name), args });
  const nodes = [await start('n1'), await start('n2')];
  const ada = agentOf('ada');
  const told = [await insist(nodes, register(ada), 0), await insist(nodes, update(ada), 1)];
  expect(told.map(({ status }) => status)).toEqual([201, 200]);
  await expectTogether(nodes);
  const where = ['--cluster', order.url, '--network-id', 'town'];
  const status = await folkmoot(['cluster', 'status', ...where, ...args]);
  expect(status.code, status.stderr).toBe(0);
  expect(JSON.parse(status.stdout)).toMatchObject({
    nodes: [
      { node: 'n1', alive: true },
      { node: 'n2', alive: true },
    ],
    etcd: [{ leader: true }],
  });

  const serve = ['serve', '--node', 'n3', '--port', '0', '--data', join(folder, 'n3'), ...where];
  const strangers: [what: string, files: Partial<Certificates>, says: RegExp][] = [
    ['another authority', { ...ours, ca: theirs.ca }, /certificate/],
    ['no certificate', { ca: ours.ca }, /bad certificate/],
    ["a stranger's certificate", { ...theirs, ca: ours.ca }, /TLS/],
    ['nothing', {}, /No connection established/],
  ];
  for (const [what, files, says] of strangers) {
    for (const command of [serve, ['cluster', 'status', ...where]]) {
      const { code, stderr } = await folkmoot([...command, ...flagsOf(files)]);
      expect([code, stderr], what).toEqual([1, expect.stringMatching(/^folkmoot: etcd at .*\n$/)]);
      expect(stderr, what).toMatch(says);
    }
  }
  await expectKept(nodes, told);
});
