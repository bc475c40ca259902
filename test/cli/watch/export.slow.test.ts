/** `folkmoot explore --export`: the exported file, refusals and interruption. */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { changed, changeJson } from '../../engine/replay/folders.js';
import { folkmoot } from '../../support/cli.js';
import { expectOneLine, simJson } from '../../support/command.js';
import { temporaryFolder } from '../../support/fixture.js';
import { begin } from '../../support/running-command.js';
import { copyOf, suiteFolder } from '../../support/runs.js';
import { World } from '../../support/service/world.js';

const run = join(suiteFolder(), 'run');
let entries = 0;
let events = 0;
beforeAll(async () => {
  const size = ['--agents', '100', '--blocks', '30', '--seed', '7'];
  const { json } = await simJson('healthy-town', ...size, '--out', run);
  ({ entries, events } = json);
});

/**
 * Returns the size of the run in the file. The rest of the file is the same page in every export.
 */
const runBytes = (text: string) => /id="run">([^<]*)</.exec(text)![1]!.length;

test('export: writes run.html next to the report, which then links to it', async () => {
  const copy = copyOf(run);
  expect(readFileSync(join(copy, 'report.html'), 'utf8')).not.toContain('run.html');
  const { code, stdout } = await folkmoot(['explore', copy, '--export', '--json']);
  expect(code).toBe(0);
  const file = join(copy, 'run.html');
  const text = readFileSync(file, 'utf8');
  expect(JSON.parse(stdout)).toEqual({
    ...{ event: 'exported', file, folder: copy, entries, events },
    bytes: text.length,
  });
  // 100,000 events take about 0.5 MB. In a small run, agents and blocks dominate.
  expect(runBytes(text) / events).toBeLessThan(12);
  expect(text.length - runBytes(text)).toBeLessThan(140_000);
  expect(readFileSync(join(copy, 'report.html'), 'utf8')).toContain(`run.html?at=${entries - 1}`);
  // A second export does not overwrite the file.
  const again = await folkmoot(['explore', copy, '--export']);
  expectOneLine(again);
  expect([again.code, readFileSync(file, 'utf8') === text]).toEqual([2, true]);
});

test('export: the same log gives the same bytes', async () => {
  const folder = temporaryFolder();
  const texts = [];
  for (const name of ['one.html', 'two.HTML']) {
    const path = join(folder, name);
    const ended = await folkmoot(['explore', run, '--export', path]);
    expect(ended.stdout).toMatch(new RegExp(`${name}: ${events} events in \\d+ kB`));
    texts.push(readFileSync(path, 'utf8'));
  }
  expect(texts[0] === texts[1]).toBe(true);
  expect(readdirSync(folder).sort()).toEqual(['one.html', 'two.HTML']);
});

test('export: shows progress', async () => {
  const path = join(temporaryFolder(), 'run.html');
  const { stderr } = await folkmoot(['explore', run, '--export', path]);
  expect(stderr).toMatch(new RegExp(`^0/${entries} entries recomputed\n`));
  expect(stderr).toContain(`${entries}/${entries} entries recomputed\n`);
});

test('export: exports a folder in use up to its current entry', async () => {
  const folder = temporaryFolder();
  const data = join(folder, 'live');
  const server = begin(['serve', '--port', '0', '--data', data, '--limits', 'bench']);
  const [line] = await server.printed(/^\{.*\}\n/);
  const { url, ws_url: wsUrl } = JSON.parse(line!) as { url: string; ws_url: string };
  await new World({ url, wsUrl }).joinAll('Ada', 'Bob', 'Cy');
  const without = await folkmoot(['explore', data, '--export']);
  expectOneLine(without);
  expect([without.code, without.stderr]).toEqual([2, expect.stringContaining(data)]);
  const path = join(folder, 'live.html');
  const { code, stdout } = await folkmoot(['explore', data, '--export', path, '--json']);
  expect([code, JSON.parse(stdout).entries]).toEqual([0, 4]);
});

test('export: refuses a folder that does not match its log, with the location', async () => {
  const copy = await changed(run, ({ events: stored }) => {
    const keys = [...stored.getKeys()] as number[];
    const key = keys.find((one) => stored.get(one)!.includes('"type":"block_status"'))!;
    changeJson(stored, key, (event) => ({
      ...event,
      data: { ...(event.data as object), status: 'expired' },
    }));
  });
  const before = readdirSync(copy);
  const ended = await folkmoot(['explore', copy, '--export']);
  expect([ended.code, ended.stdout]).toEqual([13, '']);
  expect(ended.stderr).toMatch(/^folkmoot: .*entry \d+/m);
  expect(readdirSync(copy)).toEqual(before);
});

test('export: refuses truncated or missing data', async () => {
  for (const [damage, code] of [
    [(data: string) => writeFileSync(data, readFileSync(data).subarray(0, 40_960)), 13],
    [(data: string) => rmSync(data), 13],
  ] as const) {
    const copy = copyOf(run);
    damage(join(copy, 'network', 'data.mdb'));
    const ended = await folkmoot(['explore', copy, '--export']);
    expectOneLine(ended);
    expect([ended.code, readdirSync(copy).includes('run.html')]).toEqual([code, false]);
  }
});

test('export: a signal ends the export and leaves no file', async () => {
  const folder = temporaryFolder();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    const begun = begin(['explore', run, '--export', join(folder, 'run.html')], /recomputed/);
    await begun.printed(/recomputed/);
    expect(await begun.stop(signal)).toEqual({ code: null, signal });
    expect([begun.stdout(), readdirSync(folder)]).toEqual(['', []]);
  }
});
