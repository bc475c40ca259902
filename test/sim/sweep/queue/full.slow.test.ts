/** Sweep with an etcd that is out of space. */
import { join } from 'node:path';
import { etcd, etcdClient, hasEtcd, makeRoom } from '../../../support/etcd.js';
import { temporaryFolder } from '../../../support/fixture.js';
import { suiteFolder } from '../../../support/runs.js';
import { expectSame, sweepIn } from '../folders.js';
import { smallRaw, writeScenario } from '../scenarios.js';
import { done, queued, worker } from './queued.js';

const around = suiteFolder();
const sweep = { factors: [{ path: 'links.loss', values: [0, 0.1] }], replicates: 20 };
const file = writeScenario(around, { ...smallRaw(40), sweep });

test.skipIf(!hasEtcd)(
  'queue: stops when etcd is out of space, and continues with --resume',
  async () => {
    const running = await etcd({ args: ['--quota-backend-bytes', String(4 * 1_048_576)] });
    const client = etcdClient(running);
    const folder = temporaryFolder();
    const [alone, out] = [join(folder, 'alone'), join(folder, 'out')];
    expect((await sweepIn(file, alone)).code).toBe(0);
    const fill = async () => {
      for (let at = 0; ; at += 1) await client.put(`else/${at}`, Buffer.alloc(500_000));
    };
    expect(await fill().catch((error) => error)).toMatchObject({ kind: 'out_of_space' });
    const full = queued(file, out, running.url);
    expect(await full.ended).toEqual({ code: 1, signal: null });
    expect(full.stderr()).toMatch(/^folkmoot: etcd at .*database space exceeded/m);
    await client.delete({ prefix: 'else/' });
    await client.compact((await client.range('else')).revision);
    await makeRoom(running, client);
    const resumed = queued(file, out, running.url, '--resume');
    worker(running.url);
    await done(resumed);
    expectSame(alone, out);
  },
);
