/** Jobs: runs in separate processes, which may crash. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { simulate } from 'folkmoot/sim';
import { type Job, lastingMembers, type Outcome, runJobs } from '../../../dist/sim/run/jobs.js';
import { temporaryFolder } from '../../support/fixture.js';
import { scripted, small } from './scenarios.js';

interface Numbered extends Job {
  number: number;
}

const numbered = (count: number): Numbered[] =>
  Array.from({ length: count }, (_, number) => ({ number, scenario: small(), seed: `${number}` }));

async function outcomesOf(tasks: Iterable<Numbered>, options = {}): Promise<Map<number, Outcome>> {
  const outcomes = new Map<number, Outcome>();
  await runJobs(tasks, {
    jobs: 2,
    ...options,
    onDone: ({ number }, outcome) => {
      expect(outcomes.has(number)).toBe(false);
      outcomes.set(number, outcome);
    },
  });
  return outcomes;
}

const digestOf = (outcome: Outcome | undefined) =>
  outcome && 'result' in outcome ? outcome.result.digest : outcome;

const toLasting = (outcome: Outcome) =>
  'result' in outcome ? lastingMembers.map((name) => outcome.result[name]) : outcome;

const failureOf = (outcome: Outcome | undefined) =>
  outcome && 'failure' in outcome ? outcome.failure : outcome;

test('jobs: executes each job once, with the result of a single run', async () => {
  const outcomes = await outcomesOf(numbered(7));
  expect(outcomes.size).toBe(7);
  for (const number of [0, 6]) {
    const alone = await simulate(small(), { seed: `${number}`, store: 'memory' });
    expect(digestOf(outcomes.get(number))).toBe(alone.digest);
  }
});

test('jobs: takes a task only when a process is free', async () => {
  let taken = 0;
  let done = 0;
  let most = 0;
  function* counted() {
    for (const task of numbered(6)) {
      taken += 1;
      most = Math.max(most, taken - done);
      yield task;
    }
  }
  await runJobs(counted(), {
    jobs: 2,
    onDone: () => {
      done += 1;
    },
  });
  expect([taken, done]).toEqual([6, 6]);
  expect(most).toBeLessThanOrEqual(2);
});

const filling = 'const all = []; for (;;) all.push(new Array(1e4).fill(1));';
// V8 aborts on this allocation without an exception; in a thread, it would end the whole process.
const growing = 'const all = []; for (;;) all.push(1);';
const later = 'setTimeout(() => { throw new Error("late") }); return;';
const deaths: [string, string, 'scenario' | 'crash', RegExp][] = [
  ['exits', 'process.exit(3)', 'scenario', /process\.exit/],
  ['throws later', later, 'scenario', /globalThis\.setTimeout/],
  ['sends a result itself', 'process.send({})', 'scenario', /process\.send/],
  ['takes all memory', filling, 'crash', /128 MiB/],
  ['takes all memory at once', growing, 'crash', /128 MiB/],
  ['never ends', 'for (;;);', 'scenario', /10 s/],
];
const limits = { memoryMb: 128 };

async function expectOthers(bad: Omit<Job, 'seed'>, more = {}): Promise<unknown> {
  const [first, ...rest] = numbered(4);
  const outcomes = await outcomesOf([{ ...first!, ...bad }, ...rest], { ...limits, ...more });
  expect([...outcomes.keys()].sort()).toEqual([0, 1, 2, 3]);
  for (const { number } of rest) {
    expect(digestOf(outcomes.get(number))).toMatch(/^[0-9a-f]{64}$/);
  }
  return failureOf(outcomes.get(0));
}

test.each(deaths)('jobs: isolates a script that %s', async (_, body, kind, message) => {
  const folder = temporaryFolder();
  const failure = await expectOthers({ scenario: scripted(folder, body), folder });
  expect(failure).toMatchObject({ kind, message: expect.stringMatching(message) });
});

test('jobs: ends a run at its time limit', async () => {
  const scenario = { ...small(), length: { ...small().length, blocks: 1_000_000 } };
  // The run never ends, so a busy machine does not affect the test.
  const failure = await expectOthers({ scenario }, { wallMs: 20_000 });
  expect(failure).toMatchObject({ kind: 'crash', message: expect.stringMatching(/20 s/) });
});

test('jobs: give the same results in any order and number of workers', async () => {
  const consensus = (policy: 'bft' | 'majority' | 'borda') => ({ ...small().consensus, policy });
  const tasks = (['bft', 'majority', 'borda'] as const).flatMap((policy, at) =>
    (['none', 'full'] as const).flatMap((log, more) =>
      [0, 1].map((replicate) => ({
        number: 4 * at + 2 * more + replicate,
        scenario: { ...small(), consensus: consensus(policy) },
        seed: `order/${replicate}`,
        log,
      })),
    ),
  );
  const resultsOf = async (some: Numbered[], jobs: number) => {
    const outcomes = await outcomesOf(some, { jobs });
    return some
      .toSorted((a, b) => a.number - b.number)
      .map(({ number }) => JSON.stringify(toLasting(outcomes.get(number)!)));
  };
  const expected = await resultsOf(tasks, 1);
  // Without a log, some runs under two policies are equal.
  expect(new Set(expected).size).toBeGreaterThan(tasks.length / 2);
  for (const result of expected) expect(result).toMatch(/^\["(pass|no_progress)"/);
  expect(await resultsOf(tasks.toReversed(), 1)).toEqual(expected);
  expect(await resultsOf(tasks, 2)).toEqual(expected);
});

test.skipIf(process.platform !== 'linux')(
  'jobs: replaces a killed worker, and its run succeeds when repeated',
  async () => {
    const outcomes = new Map<number, Outcome>();
    const tasks = numbered(4);
    await runJobs(tasks, {
      jobs: 1,
      onDone: ({ number }, outcome) => {
        outcomes.set(number, outcome);
        if (number === 0) for (const pid of jobProcesses()) process.kill(pid, 'SIGKILL');
      },
    });
    expect(failureOf(outcomes.get(1))).toEqual({
      kind: 'crash',
      message: expect.stringContaining('SIGKILL'),
    });
    outcomes.set(1, (await outcomesOf([tasks[1]!], { jobs: 1 })).get(1)!);
    const undisturbed = await outcomesOf(numbered(4));
    for (const { number } of tasks) {
      expect(digestOf(outcomes.get(number))).toBe(digestOf(undisturbed.get(number)));
    }
  },
);

/** Returns the processes that run jobs for this process. */
function jobProcesses(): number[] {
  const children = readdirSync('/proc/self/task').flatMap(
    (thread) => readFileSync(`/proc/self/task/${thread}/children`, 'utf8').match(/\d+/g) ?? [],
  );
  return children
    .filter((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('job-child.js'))
    .map(Number);
}

test('jobs: the next job runs while an outcome is saved', async () => {
  const events: string[] = [];
  let release: () => void = () => {};
  const saved = new Promise<void>((resolve) => {
    release = resolve;
  });
  function* told() {
    for (const task of numbered(2)) {
      events.push(`take ${task.number}`);
      // The first outcome is saved only after the second job was taken.
      if (task.number === 1) release();
      yield task;
    }
  }
  await runJobs(told(), {
    jobs: 1,
    onDone: async ({ number }) => {
      events.push(`end ${number}`);
      await saved;
      events.push(`saved ${number}`);
    },
  });
  expect(events).toEqual(['take 0', 'end 0', 'take 1', 'saved 0', 'end 1', 'saved 1']);
});

test('jobs: reports an outcome that cannot be saved', async () => {
  const ends = runJobs(numbered(1_000), {
    jobs: 2,
    onDone: async ({ number }) => {
      await Promise.resolve();
      if (number === 3) throw new Error('disk full');
    },
  });
  await expect(ends).rejects.toThrow('disk full');
});

test('jobs: stops on a signal without reporting unfinished jobs', async () => {
  const controller = new AbortController();
  const done: number[] = [];
  await runJobs(numbered(1_000), {
    jobs: 2,
    signal: controller.signal,
    onDone: ({ number }) => {
      done.push(number);
      if (done.length === 3) controller.abort();
    },
  });
  expect(done).toHaveLength(3);
});

describe('jobs: runs with scripts', () => {
  const job = (folder: string, more: Partial<Job> = {}) => ({
    ...{ scenario: scripted(folder, VOTE, 'own.mjs'), folder, log: 'none' as const, ...more },
  });
  const VOTE = "return { do: 'vote', decision: 'approve' };";
  const reportedBy = (outcome: Outcome | undefined) =>
    outcome && 'result' in outcome ? outcome.result.reported.run.uses : outcome;

  /** Measure `uses` of three runs of one worker. */
  async function counted(text: string, lib = ''): Promise<unknown[]> {
    const folder = temporaryFolder();
    const given = job(folder);
    writeFileSync(join(folder, 'own.mjs'), `${text}\nexport const vote = () => { ${VOTE} };`);
    writeFileSync(join(folder, 'lib.mjs'), lib);
    const tasks = [0, 1, 2].map((number) => ({ ...given, number, seed: `${number}` }));
    const outcomes = await outcomesOf(tasks, { jobs: 1 });
    return [0, 1, 2].map((number) => reportedBy(outcomes.get(number)));
  }
  const report = (n: string) => `export const report = () => ({ uses: ${n} });`;

  test.each([
    ['a variable', `let n = 0; ${report('(n += 1)')}`, ''],
    [
      'a variable of an import',
      `import { next } from './lib.mjs'; ${report('next()')}`,
      'let n = 0; export const next = () => (n += 1);',
    ],
    ['a global variable', report('(globalThis.n = (globalThis.n ?? 0) + 1)'), ''],
    ['a built-in object', report('(Math.n = (Math.n ?? 0) + 1)'), ''],
    ['a prototype', `${report('((Array.prototype.n ??= []).push(1))')}`, ''],
    ['a function of the language', report('([].map.n = ([].map.n ?? 0) + 1)'), ''],
    ['the process', report('(process.n = (process.n ?? 0) + 1)'), ''],
    ['a part of Node.js', `import fs from 'node:fs'; ${report('(fs.n = (fs.n ?? 0) + 1)')}`, ''],
  ])('jobs: no run sees %s of another run', async (_, text, lib) => {
    // Line breaks separate statements, as in a file.
    const [first, ...rest] = await counted(text.replaceAll('; ', ';\n'), lib);
    expect([first, rest]).toEqual([expect.any(Number), [first, first]]);
  });

  test('jobs: refuses a module that is not the expected one', async () => {
    const folder = temporaryFolder();
    const modules = { expected: { 'own.mjs': '0'.repeat(64) } };
    const outcomes = await outcomesOf([{ ...job(folder, { modules }), number: 0, seed: 'a' }]);
    expect(failureOf(outcomes.get(0))).toMatchObject({
      kind: 'scenario',
      message: expect.stringMatching(/module changed since the first run/),
    });
  });
});
