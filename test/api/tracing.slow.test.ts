/** `--traces` of `serve` and `load`: a load run's requests and the server's spans share traces. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { folkmoot } from '../support/cli.js';
import { temporaryFolder } from '../support/fixture.js';
import { host, startHost, stop } from '../support/host.js';
import { root } from '../support/paths.js';

interface Line {
  name: string;
  kind: string;
  trace: string;
  span: string;
  parent: string | null;
}

const module = join(root, 'test/api/span-file.mjs');
const spansIn = (file: string) =>
  readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);

test('traces: load propagates its trace context to serve', async () => {
  const folder = temporaryFolder();
  const files = { server: join(folder, 'server.ndjson'), load: join(folder, 'load.ndjson') };
  const traces = ['--traces', module];
  const server = await host({
    ...{ data: join(folder, 'data'), args: traces, env: { SPAN_FILE: files.server } },
  });
  const run = ['load', '--url', server.url, '--agents', '10', '--rate', '20', '--warmup', '0s'];
  const { code } = await folkmoot([...run, '--duration', '1s', '--json', ...traces], {
    env: { SPAN_FILE: files.load },
  });
  // On a busy machine the run can be invalid: exit code 14, with a result.
  expect([0, 14]).toContain(code);
  await stop(server);
  const [sent, served] = [spansIn(files.load), spansIn(files.server)];
  expect([sent.at(-1)?.name, served.at(-1)?.name]).toEqual(['shutdown', 'shutdown']);
  const votes = served.filter(({ name }) => name === 'POST /api/v1/consensus/vote');
  expect(votes.length).toBeGreaterThan(5);
  const clients = new Map(sent.map(({ span, trace, kind }) => [span, { trace, kind }]));
  for (const { parent, trace } of votes) {
    expect(clients.get(parent ?? '')).toEqual({ trace, kind: 'CLIENT' });
  }
});

test('traces: serve names a module that cannot be imported', async () => {
  const folder = temporaryFolder();
  const broken = join(folder, 'broken.mjs');
  writeFileSync(broken, "throw new Error('no collector configured');\n");
  for (const [path, reason] of [
    [broken, 'no collector configured'],
    [join(folder, 'missing.mjs'), 'missing.mjs'],
  ] as const) {
    const started = await startHost({ data: join(folder, 'data'), args: ['--traces', path] });
    if (!('ending' in started)) throw new Error('the server started');
    expect(started.ending.code).toBe(2);
    expect(started.stderr).toContain(reason);
  }
});
