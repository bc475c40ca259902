/** What a terminal sees: no bar where it is dumb or narrow, and one line to read at the start. */
import { execFile, execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { promisify, stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../support/fixture.js';
import { main } from '../../support/paths.js';

const run = promisify(execFile);

/** util-linux gives a command a terminal of its own. */
function hasScript(): boolean {
  try {
    return execFileSync('script', ['--version'], { encoding: 'utf8' }).includes('util-linux');
  } catch {
    return false;
  }
}

const withTerminal = test.skipIf(!hasScript());

/** What is seen on a terminal of so many columns. */
async function seen(command: string, columns: number, term: string): Promise<string> {
  const line = `stty cols ${columns} 2>/dev/null; ${command}`;
  const env = { ...process.env, TERM: term };
  const { stdout } = await run('script', ['-qec', line, '/dev/null'], { env });
  return stdout;
}

const node = `'${process.execPath}' '${main}'`;
const sim = `${node} sim --agents 20 --blocks 4`;
/** Whether something steers the terminal; carriage returns end lines of one. */
const steers = (text: string) =>
  stripVTControlCharacters(text) !== text || text.replaceAll('\r\n', '').includes('\r');

withTerminal('terminal: a wide one has a bar, and no line of it wraps', async () => {
  const text = await seen(sim, 80, 'xterm');
  expect(steers(text)).toBe(true);
  const bars = stripVTControlCharacters(text)
    .split(/[\r\n]+/)
    .flatMap((line) => line.match(/ [█░]{24} \d+% \|[^█░]*/gu) ?? []);
  expect(bars.length, JSON.stringify(text)).toBeGreaterThan(0);
  for (const line of bars) expect(line.length).toBeLessThanOrEqual(80);
});

withTerminal.each([
  ['narrow', 40, 'xterm'],
  ['dumb', 120, 'dumb'],
])('terminal: a %s one has no bar', async (_, columns, term) => {
  const text = await seen(sim, columns, term);
  expect(text).toMatch(/blocks, \d+ votes/);
  expect(steers(text)).toBe(false);
});

withTerminal('terminal: serve says in one line where it is and what it is', async () => {
  const data = join(temporaryFolder(), 'data');
  const serve = `timeout -s TERM 8 ${node} serve --port 0 --data ${data} --network-id mine`;
  const text = await seen(`${serve}; true`, 120, 'xterm');
  const told = text.split('\r\n').filter((line) => line.startsWith('folkmoot: '));
  expect(told).toEqual([
    expect.stringMatching(
      /^folkmoot: http:\S+ serves mine, kept in \S+ \(transport \w+, limits spec\)/,
    ),
  ]);
  expect(text).not.toContain('"msg":"listening"');
});
