/** Towns with a program as decider, run by the command line and killed. */
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { folkmoot } from '../../support/cli.js';
import { simJson } from '../../support/command.js';
import { temporaryFolder } from '../../support/fixture.js';
import { main } from '../../support/paths.js';

export interface Minds {
  folder: string;
  file: string;
  /** Ids of the questions to the program, one per line in `asked.txt`. */
  asked(): string[];
  become(program: string): void;
}

/** A town whose minds ask `mind.mjs`; `strategy` holds further members of the strategy. */
export function mindsOf(program: string, strategy: string, agents: number): Minds {
  const folder = temporaryFolder();
  const file = join(folder, 'town.yaml');
  const become = (text: string) => writeFileSync(join(folder, 'mind.mjs'), text);
  become(program);
  const command = JSON.stringify([process.execPath, 'mind.mjs']);
  writeFileSync(
    file,
    `title: minds
agents:
  - group: minds
    count: ${agents}
    producers: 3
    strategy: { command: ${command}, backoff_ms: 1, ${strategy} }
length: { blocks: 3 }
signatures: none
`,
  );
  const asked = () => {
    const name = join(folder, 'asked.txt');
    return existsSync(name) ? readFileSync(name, 'utf8').trim().split('\n') : [];
  };
  return { folder, file, asked, become };
}

export const cassetteIn = (of: string) => readFileSync(join(of, 'decisions.cassette'), 'utf8');

/** Runs the command and kills it when `until` returns true. */
async function killed(args: readonly string[], until: () => boolean): Promise<void> {
  const child = spawn(process.execPath, [main, 'sim', ...args], { stdio: 'ignore' });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  let over = false;
  ended.then(() => {
    over = true;
  });
  while (!over && !until()) await new Promise((resolve) => setTimeout(resolve, 5));
  child.kill('SIGKILL');
  await ended;
}

/**
 * Runs fifty minds, three questions at a time: killed twice and resumed; then from the cassette,
 * with a program that lies and with one that exits.
 */
export async function expectResumed(minds: Minds, liar: string): Promise<void> {
  const { folder, file, asked, become } = minds;
  const whole = join(folder, 'whole');
  const { json } = await simJson(file, '--record', '--out', whole);
  const { questions, failures } = json.deciders!;
  expect([json.deciders!.asked, asked().length, failures]).toEqual([questions, questions, {}]);

  writeFileSync(join(folder, 'asked.txt'), '');
  const out = join(folder, 'killed');
  const args = [file, '--record', '--out', out];
  for (const share of [0.3, 0.6]) {
    await killed(args, () => asked().length > share * questions);
    expect(existsSync(join(out, 'summary.json'))).toBe(false);
  }
  const resumed = await simJson(...args);
  expect(resumed.json.digest).toBe(json.digest);
  expect(resumed.ended.stderr).toMatch(/decisions\.cassette has \d+ answers/);
  // The calls in flight at each kill are repeated: at most three. All of them count.
  const { calls, retries } = resumed.json.deciders!;
  expect(retries).toBe(calls - questions);
  expect(calls).toBeLessThanOrEqual(questions + 2 * 3);
  expect(asked().length).toBeLessThanOrEqual(calls);
  const answersIn = (run: string) => cassetteIn(run).replaceAll(/"calls":\d+|"sum":"\w+"/g, '');
  expect(answersIn(out)).toBe(answersIn(whole));

  become(liar);
  const before = asked().length;
  const lied = await simJson(file, '--cassette', out);
  become('process.exit(1)');
  const alone = await simJson(file, '--cassette', out, '--out', join(folder, 'again'));
  expect([lied.json.digest, alone.json.digest]).toEqual([json.digest, json.digest]);
  expect([alone.json.deciders!.asked, asked().length]).toEqual([0, before]);
  expect((await folkmoot(['replay', out])).code).toBe(0);
  const checked = await folkmoot(['sim', file, '--cassette', out, '--check-determinism']);
  expect([checked.code, checked.stdout]).toEqual([0, expect.stringContaining(json.digest)]);
}

/** Code for the start of a program: records the keys in its environment. */
export const notesKeys = `
  const named = ['MIND_KEY', 'OTHER_KEY'].map((name) => process.env[name] ?? 'none').join(' ');
  appendFileSync('env.txt', named + '\\n');`;

/** Expects that a program receives only the requested key, and that no file contains it. */
export async function expectOneKey({ folder, file }: Minds): Promise<void> {
  const args = ['sim', file, '--record', '--out', join(folder, 'run')];
  const unset = await folkmoot(args);
  expect([unset.code, unset.stderr]).toEqual([2, expect.stringContaining('MIND_KEY')]);
  const env = { MIND_KEY: 'key-of-the-mind', OTHER_KEY: 'other-key' };
  const ended = await folkmoot(args, { env });
  expect([ended.code, ended.stderr]).toEqual([0, expect.anything()]);
  const seen = new Set(readFileSync(join(folder, 'env.txt'), 'utf8').trim().split('\n'));
  expect([...seen]).toEqual(['key-of-the-mind none']);
  for (const name of ['decisions.cassette', 'summary.json', 'report.html', 'scenario.json']) {
    expect(readFileSync(join(folder, 'run', name), 'utf8')).not.toContain('key-of-the-mind');
  }
}
