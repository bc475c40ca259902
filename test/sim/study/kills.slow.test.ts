/** A recorded study that is killed at random points: same bytes, and no question twice. */
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runCommand } from '../../support/command.js';
import { counts } from '../../support/counts.js';
import { temporaryFolder } from '../../support/fixture.js';
import { main } from '../../support/paths.js';
import { drawnFrom } from '../../support/seeded.js';
import { deciderServer } from '../deciders/fixture.js';

const KILLS = counts.killedStudies;

async function study() {
  const decider = await deciderServer(async ({ view }) => {
    await new Promise((resolve) => setTimeout(resolve, 2));
    const usage = { input_tokens: 20, output_tokens: 5 };
    const decision = (view as { chance?: number }).chance! % 3 ? 'approve' : 'reject';
    return { commands: [{ do: 'vote', decision }], usage };
  });
  const folder = temporaryFolder();
  const file = join(folder, 'study.yaml');
  const strategy = { kind: 'http', url: decider.url, most_at_once: 2, backoff_ms: 0 };
  const scenario = {
    ...{ title: 'a killed study', signatures: 'none', length: { blocks: 2 } },
    agents: [{ group: 'minds', count: 5, producers: 1, strategy }],
    budget: { prices: { other: { input: 1, output: 2 } }, study: { money: 100 } },
    social: { memes: { rate: 0 }, alliances: { rate: 0 }, breaks: { rate: 0 } },
    sweep: {
      factors: [{ path: 'consensus.policy', name: 'policy', values: ['bft', 'majority'] }],
      ...{ replicates: 4, responses: ['finalized_share'], log: 'full' },
      study: { effects: [{ factor: 'policy', between: ['bft', 'majority'] }] },
    },
  };
  writeFileSync(file, JSON.stringify(scenario));
  return { decider, folder, file };
}

/**
 * Runs and cassettes by name. They count the calls that a kill interrupted, so only these numbers,
 * and the checksums of lines that contain them, may differ.
 */
function textsIn(out: string): Record<string, string> {
  const texts = ['runs', 'cassettes'].flatMap((folder) =>
    readdirSync(join(out, folder)).map((name) => {
      const text = readFileSync(join(out, folder, name), 'utf8');
      return [name, text.replaceAll(/"(?:decider_)?calls": ?\d+|"sum":"\w+"/g, '')] as const;
    }),
  );
  return Object.fromEntries(texts.sort());
}

const filesIn = (out: string) =>
  readdirSync(out, { recursive: true, encoding: 'utf8' }).filter((name) => !/lock$/.test(name));

async function killed(args: readonly string[], until: () => boolean): Promise<void> {
  const child = spawn(process.execPath, [main, ...args], { stdio: 'ignore', detached: true });
  let isOver = false;
  const ended = new Promise<void>((resolve) => {
    child.once('close', () => {
      isOver = true;
      resolve();
    });
  });
  while (!isOver && !until()) await new Promise((resolve) => setTimeout(resolve, 2));
  try {
    // The group contains the processes of the runs.
    process.kill(-child.pid!, 'SIGKILL');
  } catch {
    expect(isOver).toBe(true);
  }
  await ended;
}

test('kills: a recorded study resumes to the same bytes, and asks each question once', async () => {
  const { decider, folder, file } = await study();
  const whole = join(folder, 'whole');
  const args = ['sweep', file, '--record', '--jobs', '1'];
  const first = await runCommand([...args, '--out', whole, '--cache', join(folder, 'a')]);
  expect(first.code, first.stderr).toBe(0);
  const all = decider.asked.length;
  const names = new Set(decider.asked.map(({ id, view }) => `${id} ${JSON.stringify(view)}`));
  // Both policies ask the same first questions, which the cache answers.
  expect(names.size).toBe(all);
  const seed = Date.now() % 1e9;
  const draw = drawnFrom(seed);
  const out = join(folder, 'killed');
  const again = [...args, '--out', out, '--cache', join(folder, 'b'), '--resume'];
  decider.asked.length = 0;
  let interrupted = 0;
  for (let kill = 0; kill < KILLS; kill += 1) {
    const from = decider.asked.length;
    const calls = 1 + draw(Math.ceil((2 * all) / KILLS));
    await killed(again, () => decider.asked.length >= from + calls);
    // Calls in flight at a kill have no recorded answer: at most two.
    interrupted += 2;
  }
  const resumed = await runCommand(again);
  expect(resumed.code, resumed.stderr).toBe(0);
  const answered = new Map<string, number>();
  for (const { id, view } of decider.asked) {
    const name = `${id} ${JSON.stringify(view)}`;
    answered.set(name, (answered.get(name) ?? 0) + 1);
  }
  expect([...answered.keys()].sort(), `seed ${seed}`).toEqual([...names].sort());
  const repeated = [...answered.values()].reduce((sum, count) => sum + count - 1, 0);
  expect(repeated, `seed ${seed}`).toBeLessThanOrEqual(interrupted);
  expect(textsIn(out), `seed ${seed}`).toEqual(textsIn(whole));
  expect(filesIn(out).sort()).toEqual(filesIn(whole).sort());
}, 600_000);
