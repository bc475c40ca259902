/** Output on a terminal: progress bar, and the first line of serve. */
import { execFile, execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { promisify, stripVTControlCharacters } from 'node:util';
import { temporaryFolder } from '../../support/fixture.js';
import { main } from '../../support/paths.js';

const run = promisify(execFile);

/** Returns true if util-linux's `script`, which runs a command in a new terminal, is installed. */
function hasScript(): boolean {
  try {
    return execFileSync('script', ['--version'], { encoding: 'utf8' }).includes('util-linux');
  } catch {
    return false;
  }
}

const withTerminal = test.skipIf(!hasScript());

/** Returns the output shown on a terminal with this number of columns. */
async function seen(command: string, columns: number, term: string): Promise<string> {
  const line = `stty cols ${columns} 2>/dev/null; ${command}`;
  const env = { ...process.env, TERM: term };
  const { stdout } = await run('script', ['-qec', line, '/dev/null'], { env });
  return stdout;
}

const node = `'${process.execPath}' '${main}'`;
const sim = `${node} sim --agents 20 --blocks 4`;
/** Returns true if the text contains control characters other than line ends. */
const steers = (text: string) =>
  stripVTControlCharacters(text) !== text || text.replaceAll('\r\n', '').includes('\r');

withTerminal('terminal: a wide terminal has a bar without wrapped lines', async () => {
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
])('terminal: a %s terminal shows no progress bar', async (_, columns, term) => {
  const text = await seen(sim, columns, term);
  expect(text).toMatch(/blocks, \d+ votes/);
  expect(steers(text)).toBe(false);
});

withTerminal('terminal: serve prints address and network in one line', async () => {
  const data = join(temporaryFolder(), 'data');
  const serve = `timeout -s TERM 8 ${node} serve --port 0 --data ${data} --network-id mine`;
  const text = await seen(`${serve}; true`, 120, 'xterm');
  const told = text.split('\r\n').filter((line) => line.startsWith('folkmoot: '));
  expect(told).toEqual([
    expect.stringMatching(/^folkmoot: http:\S+ serves mine .*\(transport \w+, limits spec\)/),
  ]);
  expect(text).not.toContain('"msg":"listening"');
});
