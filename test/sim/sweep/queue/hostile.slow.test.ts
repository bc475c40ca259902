/** Hostile client of etcd: garbage, forged runs and forged results. */
import { join } from 'node:path';
import { hasEtcd } from '../../../support/etcd.js';
import { suiteFolder } from '../../../support/runs.js';
import { expectSame, runsIn, sweepIn } from '../folders.js';
import { smallRaw, writeScenario } from '../scenarios.js';
import { done, firstOf, keysOf, queued, startQueue, stoppedWithClaim, worker } from './queued.js';

const around = suiteFolder();
const raw = { ...smallRaw(40), length: { blocks: 12 } };
const sweep = { factors: [{ path: 'links.loss', values: [0, 0.1, 0.2] }], replicates: 2 };
const file = writeScenario(around, { ...raw, sweep });
const alone = join(around, 'alone');

beforeAll(async () => {
  if (hasEtcd) expect((await sweepIn(file, alone)).code).toBe(0);
});

const lie = {
  result: {
    ...{ verdict: 'pass', ended_by: 'blocks', broken: null, digest: 'f'.repeat(64) },
    ...{ log_digest: 'f'.repeat(64), entries: 1, events: 1, virtual_ms: 1, refused: {} },
    ...{ measures: {}, groups: [], reported: { run: {}, groups: {} } },
  },
};

describe.skipIf(!hasEtcd)('sweep --queue, hostile client (needs etcd-server)', () => {
  test('queue: ignores and reports garbage', async () => {
    const { running, client, out } = await startQueue();
    const all = 'folkmoot/queue';
    for (const text of ['', 'null', '{"format":1}', '\x00\xff', '[]'.repeat(10_000)]) {
      await client.put(`${all}/head/bad-${text.length}`, text);
    }
    await client.put('folkmoot/queue/what/is/this', 'x');
    const sweeping = queued(file, out, running.url);
    await expect.poll(() => keysOf(client, 'task').then((keys) => keys.length)).toBe(6);
    const [id, first] = (await firstOf(client, 'task')).split('/');
    await client.put(`${all}/task/${id}/../../etc`, '{}');
    await client.put(`${all}/task/${id}/999999999`, '{"scenario":{},"seed":"x","audit":true}');
    await client.put(`${all}/result/${id}/777777777`, JSON.stringify(lie));
    await client.put(`${all}/result/${id}/\x1b[31m`, 'red');
    await client.put(`${all}/again/${id}/${first}`, 'nothing');
    await client.put(`${all}/worker/${id}/giant`, '{"jobs":1e300}');
    await client.put(`${all}/worker/${id}/null`, 'null');
    const { result } = lie;
    const wrong = [
      { result: { ...result, digest: 7 } },
      { result: { ...result, verdict: 'safety' } },
    ];
    for (const [at, told] of wrong.entries()) {
      await client.put(`${all}/result/${id}/${first}`, JSON.stringify(told));
      const said = () => sweeping.stderr().split('invalid result for run 1;').length - 1;
      await expect.poll(said).toBe(at + 1);
    }
    const one = worker(running.url);
    await done(sweeping);
    expectSame(alone, out);
    expect(sweeping.stderr()).toMatch(/"777777777"/);
    expect(sweeping.stderr()).not.toContain('\x1b[31m');
    expect(one.stderr()).toMatch(/queue bad-0 refused/);
  });

  test('worker: refuses hostile queues, fails hostile tasks, and goes on', async () => {
    const { running, client, out } = await startQueue();
    const all = 'folkmoot/queue';
    const sweeping = queued(file, out, running.url);
    const id = await firstOf(client, 'head');
    const head = JSON.parse((await client.get(`${all}/head/${id}`))!.value.toString());
    const sha256 = 'a'.repeat(64);
    const files = (...paths: string[]) => ({
      files: paths.map((path) => ({ path, sha256, bytes: 1 })),
    });
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    const heads: Record<string, object | string> = {
      clash: files('a', 'a/b'),
      clash2: files('a/b', 'a'),
      long: files('n'.repeat(300)),
      absent: files('absent.txt'),
      wrong: files('wrong.txt'),
      large: { files: [{ path: 'large.txt', sha256, bytes: 2 ** 40 }] },
      wall: { limits: { ...head.limits, wallMs: 2 ** 31 } },
      memory: { limits: { ...head.limits, memoryMb: 2 ** 40 } },
      deep: `{"format":1,"title":${deep}}`,
    };
    for (const [name, told] of Object.entries(heads)) {
      const text = typeof told === 'string' ? told : JSON.stringify({ ...head, ...told });
      await client.put(`${all}/head/bad-${name}`, text);
    }
    await client.put(`${all}/file/bad-wrong/${sha256}/0000`, 'x');
    const tasks = [deep, `{"scenario":${deep},"seed":"x","audit":true}`, 'null', '']
      .concat(JSON.stringify({ scenario: { ...smallRaw(), title: 7 }, seed: 'x', audit: true }))
      .concat(JSON.stringify({ scenario: { ['k'.repeat(900_000)]: 1 }, seed: 'x', audit: true }));
    await client.put(`${all}/head/tasks`, JSON.stringify(head));
    for (const [at, body] of tasks.entries())
      await client.put(`${all}/task/tasks/00000000${at}`, body);
    const one = worker(running.url);
    await done(sweeping);
    expectSame(alone, out);
    const results = () => client.range({ prefix: `${all}/result/tasks/` });
    await expect.poll(async () => (await results()).values.length).toBe(tasks.length);
    for (const { value } of (await results()).values) {
      expect(JSON.parse(value.toString())).toMatchObject({ failure: { kind: 'scenario' } });
      expect(value.length).toBeLessThan(11_000);
    }
    for (const name of Object.keys(heads)) {
      await expect.poll(() => one.stderr()).toContain(`queue bad-${name} refused: `);
    }
    expect(one.stderr()).not.toMatch(/\n {4}at /);
    expect(await one.stop('SIGINT')).toEqual({ code: null, signal: 'SIGINT' });
  });

  test('queue: ends the sweep at the third invalid result of a run', async () => {
    const { running, client, out } = await startQueue();
    const sweeping = queued(file, out, running.url);
    const task = await firstOf(client, 'task');
    let ended = false;
    void sweeping.ended.then(() => {
      ended = true;
    });
    await expect
      .poll(async () => {
        await client.put(`folkmoot/queue/result/${task}`, 'garbage');
        return ended;
      })
      .toBe(true);
    expect((await sweeping.ended).code).toBe(2);
    expect(sweeping.stderr()).toMatch(/run 1: 3;/);
    expect(await keysOf(client, 'head')).toEqual([]);
  });

  test('queue: detects a forged result when the worker stores its own', async () => {
    const { running, client, out } = await startQueue();
    const sweeping = queued(file, out, running.url);
    const honest = worker(running.url, '--lease-seconds', '600');
    const claim = await stoppedWithClaim(client, honest);
    await client.put(`folkmoot/queue/result/${claim}`, JSON.stringify(lie));
    honest.child.kill('SIGCONT');
    expect((await sweeping.ended).code, sweeping.stderr()).toBe(12);
    expect(sweeping.stderr()).toMatch(/not deterministic: /);
    // The remaining results are valid; repeating the run completes the sweep.
    expect(runsIn(out)).toBeLessThan(6);
    await done(queued(file, out, running.url, '--resume'));
    expectSame(alone, out);
  });
});
