/** `folkmoot serve --cluster`: nodes as processes over a real etcd. */
import { cpSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { EtcdOrder } from '../../dist/cluster/order/etcd.js';
import { folkmoot } from '../support/cli.js';
import { update } from '../support/cluster/load.js';
import { expectTogether, insist, nodeProcess } from '../support/cluster/processes.js';
import { etcd, etcdClient, hasEtcd } from '../support/etcd.js';
import { temporaryFolder } from '../support/fixture.js';
import { agentOf, register } from '../support/service/signer.js';

const agents = ['ada', 'bob', 'eve', 'kim', 'lee', 'max'].map(agentOf);
const [ada] = agents as [(typeof agents)[0]];

describe.skipIf(!hasEtcd)('serve --cluster', () => {
  test('a node that lags too far stops with advice; status and forget', async () => {
    const order = await etcd();
    const client = etcdClient(order);
    const folder = temporaryFolder();
    const start = (name: string) =>
      nodeProcess({ cluster: order.url, name, folder: join(folder, name) });
    const n1 = await start('n1');
    await client.put('folkmoot/network/town/card/x', 'x');
    const n2 = await start('n2');
    for (const by of agents) await insist([n1, n2], register(by), 0);
    await expectTogether([n1, n2]);
    const etcdOrder = new EtcdOrder({ endpoints: order.endpoints, networkId: 'town' });
    onTestFinished(() => etcdOrder.close());
    await etcdOrder.trim(await etcdOrder.head());
    await expect(start('n3')).rejects.toThrow(/ended with 13: .*--peer-listen/s);
    await n2.signal('SIGTERM');
    await insist([n1], update(ada), 0);
    rmSync(join(folder, 'n3'), { recursive: true });
    cpSync(join(folder, 'n2'), join(folder, 'n3'), { recursive: true });
    const n3 = await start('n3');
    await n2.restart();
    await insist([n3], update(ada), 0);
    await expectTogether([n1, n2, n3]);
    const where = ['--cluster', order.url, '--network-id', 'town'];
    const { code, stdout } = await folkmoot(['cluster', 'status', ...where]);
    const { nodes, parted, etcd: members, bad_cards } = JSON.parse(stdout);
    expect([code, parted]).toEqual([0, []]);
    expect(nodes).toMatchObject(
      [n1, n2, n3].map(({ name, url }) => ({ node: name, alive: true, url })),
    );
    expect(members).toMatchObject([{ leader: true }]);
    expect(bad_cards).toMatchObject([{ node: 'x', problem: expect.any(String) }]);
    expect((await folkmoot(['cluster', 'forget', 'x', ...where])).code).toBe(0);
    // A running node stops when it is forgotten.
    expect((await folkmoot(['cluster', 'forget', 'n3', ...where])).code).toBe(0);
    expect(await n3.ended()).toBe(13);
    expect(n3.stderr()).toMatch(/node name taken .*: n3/);
    const again = await folkmoot(['cluster', 'forget', 'n3', ...where]);
    expect([again.code, again.stderr]).toEqual([1, expect.stringMatching(/unknown node: n3/)]);
  });

  test('refuses to start: no etcd, another parameter, conflicting options', async () => {
    const folder = temporaryFolder();
    const serve = (...args: string[]) =>
      folkmoot(['serve', '--data', folder, '--port', '0', ...args]);
    const whole = ['--node', 'n1', '--network-id', 'town'];
    const unreachable = await serve('--cluster', 'etcd://127.0.0.1:9', ...whole);
    expect([unreachable.code, unreachable.stderr]).toEqual([
      1,
      expect.stringMatching(/^folkmoot: .*127\.0\.0\.1:9/m),
    ]);
    const wrong = await serve('--cluster', 'http://127.0.0.1', ...whole);
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringMatching(/http:\/\/127\.0\.0\.1/)]);
    const short = join(folder, 'short.secret');
    writeFileSync(short, 'short', { mode: 0o600 });
    const peerOf = (file: string) => ['--peer-listen', '127.0.0.1:1', '--peer-secret', file];
    const cases: [string[], RegExp][] = [
      [['--node', 'n1'], /--node requires --cluster/],
      [['--cluster', 'etcd://127.0.0.1:9'], /--cluster requires --node/],
      [['--cluster', 'etcd://127.0.0.1:9', '--node', 'n1'], /--cluster requires --network-id/],
      [['--peer-listen', '127.0.0.1:1'], /--peer-listen requires --cluster/],
      [
        ['--cluster', 'etcd://h', ...whole, '--peer-listen', '0.0.0.0:1'],
        /0\.0\.0\.0 is a wildcard address/,
      ],
      [['--cluster', 'etcd://h', ...whole, '--peer-listen', '127.0.0.1:1'], /--peer-secret/],
      [['--cluster', 'etcd://h', ...whole, ...peerOf(short)], /5 characters/],
      [['--cluster', 'etcd://h', ...whole, ...peerOf(folder)], /--peer-secret .*EISDIR/],
      [['--cluster', 'etcd://h', ...whole, '--clock', 'held'], /--clock held .* --cluster/],
      [['--cluster', 'etcd://h', ...whole, '--archive-after', '5000'], /-after .* --cluster/],
    ];
    for (const [args, message] of cases) {
      const { code, stderr } = await serve(...args);
      expect([code, stderr]).toEqual([2, expect.stringMatching(message)]);
    }
    const order = await etcd();
    await nodeProcess({ cluster: order.url, name: 'n1', folder: join(folder, 'n1') });
    const other = await serve('--cluster', order.url, ...whole, '--voting-period-ms', '1234');
    expect(other.code).toBe(2);
    expect(other.stderr).toMatch(/voting_period_ms .*30000.*1234/);
  });
});
