/** Data files of a scenario: valid contents, and errors with file and line. */
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { completeScenario, loadScenario, ScenarioError, simulate } from 'folkmoot/sim';
import { loadData, parseTrace } from '../../../dist/sim/scenario/files.js';
import { temporaryFolder } from '../../support/fixture.js';

const town =
  'title: t\nagents:\n  - group: a\n    count: 6\n    producers: 1\nlength: { blocks: 2 }\n';
const measured = 'links:\n  latency:\n    distribution: empirical\n    file: times.csv\n';

/** Writes a scenario with a latency file. */
function written(times: string | Buffer): string {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'town.yaml'), town + measured);
  writeFileSync(join(folder, 'times.csv'), times);
  return join(folder, 'town.yaml');
}

test.each<[what: string, times: string | Buffer, line: number, message: RegExp]>([
  ['a word', '20\nfast\n', 2, /has "fast"; expected milliseconds from 0 to 600000$/],
  ['a negative time', '# c\n\n-5\n', 3, /has "-5"; expected milliseconds from 0/],
  ['more than ten minutes', '600001\n', 1, /has "600001"; .* 600000$/],
  ['an infinite time', '1e999\n', 1, /has "1e999"; expected milliseconds/],
  ['hexadecimal', '0x20\n', 1, /has "0x20"/],
  ['nothing', '', 1, /^has no data/],
  ['a header without data', 'ms\n', 1, /has no data/],
  ['three cells', '1,2,3\n', 1, /has 3 cells; expected ms, or quantile,ms$/],
  ['lines of different lengths', '0,20\n1\n', 2, /has 1 cells; expected 2 as in the first line$/],
  ['an empty cell', '0,20\n1,\n', 2, /has ""; expected milliseconds/],
  ['a quantile above 1', '0,20\n2,30\n', 2, /has "2"; expected a quantile from 0 to 1$/],
  ['quantiles that do not start at 0', '0.1,20\n1,30\n', 1, /has quantile 0.1; expected 0$/],
  ['quantiles that do not end at 1', '0,20\n0.99,30\n', 2, /has quantile 0.99; expected .*1$/],
  ['equal quantiles', '0,20\n0,30\n1,40\n', 2, /has quantile 0; expected .*0$/],
  ['decreasing times', '0,20\n0.5,19\n1,40\n', 2, /has 19 ms; expected .*20$/],
  ['bytes', Buffer.from([0xff, 0x00, 0x0a]), 1, /expected milliseconds/],
])('latency file: reports file and line of %s', (_, times, line, message) => {
  const file = written(times);
  let text = '';
  try {
    loadScenario(file);
  } catch (error) {
    expect(error).toBeInstanceOf(ScenarioError);
    text = (error as Error).message;
  }
  const place = `${file}:10: links.latency.file is times.csv; line ${line} `;
  expect(text.slice(0, place.length)).toBe(place);
  expect(text.slice(place.length)).toMatch(message);
  expect(text).not.toContain('\n');
});

// Windows lets only administrators create symbolic links.
test.skipIf(process.platform === 'win32')(
  'latency file: rejects files outside, and links to them',
  () => {
    const file = written('20\n');
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'secret.csv'), '20\n');
    symlinkSync(join(folder, 'secret.csv'), join(file, '..', 'link.csv'));
    const changed = (to: string) => () => loadScenario(file, [['links.latency.file', to]]);
    const withCode = (code: unknown) =>
      expect.objectContaining({ problem: expect.objectContaining({ code }) });
    expect(changed('../secret.csv')).toThrow(
      withCode(expect.stringMatching(/^FILE_(NOT_FOUND|OUTSIDE)$/)),
    );
    expect(changed('link.csv')).toThrow(withCode('FILE_OUTSIDE'));
    mkdirSync(join(file, '..', 'sub'));
    expect(changed('sub')).toThrow(withCode('NOT_A_FILE'));
  },
);

test('latency file: records its hash, and fails without a folder', async () => {
  const { scenario, folder } = loadScenario(written('20\n30\n'));
  const { files, verdict } = await simulate(scenario, { folder, store: 'memory' });
  expect(verdict).toBe('pass');
  expect(files).toEqual({ 'times.csv': expect.stringMatching(/^[0-9a-f]{64}$/) });
  const withoutFolder = simulate(scenario, { store: 'memory' });
  await expect(withoutFolder).rejects.toBeInstanceOf(ScenarioError);
  await expect(withoutFolder).rejects.toMatchObject({ code: 'UNKNOWN_FOLDER' });
});

test('latency file: gives the same digest only for the same times', async () => {
  const digestOf = async (times: string) => {
    const { scenario, folder } = loadScenario(written(times));
    return (await simulate(scenario, { folder, store: 'memory' })).digest;
  };
  expect(await digestOf('20\n30\n')).toBe(await digestOf('30\n20\n'));
  expect(await digestOf('20\n30\n')).not.toBe(await digestOf('20\n31\n'));
});

test('latency file: the shipped times between cloud regions have 45 pairs of ten regions', () => {
  const name = '../../../sim/scenarios/latencies/azure-regions-2025.csv';
  const quantile = parseTrace(readFileSync(new URL(name, import.meta.url), 'utf8'));
  const times = Array.from({ length: 45 }, (_, pair) => quantile((pair + 0.5) / 45));
  expect([times[0], times.at(-1)]).toEqual([22.5, 191]);
  expect(times.reduce((sum, ms) => sum + ms, 0) / 45).toBeCloseTo(97.08, 2);
});

test('latency file: a scenario without a data file records no hash', async () => {
  const agents = [{ group: 'a', count: 4, producers: 1 }];
  const scenario = completeScenario({ title: 't', agents, length: { blocks: 1 } });
  expect((await simulate(scenario, { store: 'memory' })).files).toEqual({});
});

const own = 'topology: { kind: edges, file: edges.csv }\n';
const writtenEdges = (edges: string): string => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'town.yaml'), town + own);
  writeFileSync(join(folder, 'edges.csv'), edges);
  return join(folder, 'town.yaml');
};

test.each([
  ['one agent', '0,1\n2\n', 2, /has 1 cells; expected two agents, a,b$/],
  ['three agents', 'a,b\n0,1,2\n', 2, /has 3 cells; expected two agents, a,b$/],
  ['an unknown ordinal', '0,1\n1,6\n', 2, /has "6"; expected an agent by ordinal from 0 to 5/],
  ['an unknown name', '# x\nlawful-0,lawful-1\n', 2, /has "lawful-1"; expected an agent/],
  ['a fraction', '0,1.0\n', 1, /has "1.0"; expected an agent/],
  ['a self-link', '0,1\n3,neutral-2\n2,neutral-2\n', 3, /links 2 to itself; expected two agents$/],
])('edges file: reports file and line of %s', (_, edges, line, message) => {
  const file = writtenEdges(edges);
  expect(() => loadScenario(file)).toThrow(ScenarioError);
  expect(() => loadScenario(file)).toThrow(`:7: topology.file is edges.csv; line ${line} `);
  expect(() => loadScenario(file)).toThrow(message);
});

test('edges file: accepts ordinals and names, drops duplicates, and records its hash', async () => {
  const file = writtenEdges('source,target\n0,1\n1,0\n neutral-2 , 1 \n5,0\n');
  const { scenario, folder } = loadScenario(file);
  const out = join(temporaryFolder(), 'run');
  const { files } = await simulate(scenario, { folder, out });
  expect(readFileSync(join(out, 'edges.csv'), 'utf8')).toBe('a,b\n0,1\n0,5\n1,2\n');
  expect(files).toEqual({ 'edges.csv': expect.stringMatching(/^[0-9a-f]{64}$/) });
});

test('edges file: keeps each link once', () => {
  const { scenario, folder } = loadScenario(writtenEdges('a,b\n0,1\n1,0\n0,1\n2,1\n'));
  expect(loadData(scenario, folder).edges).toEqual([
    [0, 1],
    [2, 1],
  ]);
});

test('edges file: reproduces a run from its edges.csv', async () => {
  const agents = [{ group: 'a', count: 30, producers: 2 }];
  const sections = { title: 't', agents, length: { blocks: 3 } };
  const folder = temporaryFolder();
  const first = await simulate(
    completeScenario({ ...sections, topology: { kind: 'scale_free', degree: 4 } }),
    { out: join(folder, 'run') },
  );
  const again = completeScenario({
    ...sections,
    topology: { kind: 'edges', file: 'run/edges.csv' },
  });
  const { digest } = await simulate(again, { folder, store: 'memory' });
  expect(digest).toBe(first.digest);
});
