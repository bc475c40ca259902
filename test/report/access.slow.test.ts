/// <reference lib="dom" />
/** Reports are accessible: axe finds no violations in any mode, even with hostile text. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeRunReport, writeSweepReport } from 'folkmoot/sim';
import { compareFutures } from '../../dist/sim/compare/futures.js';
import { compareKept } from '../../dist/sim/compare/runs.js';
import { runFork } from '../../dist/sim/fork/fork.js';
import { readKept } from '../../dist/sim/fork/kept-run.js';
import { forkScenario } from '../../dist/sim/fork/scenario.js';
import { writeComparison } from '../../dist/sim/report/index.js';
import { lively, runsHere } from '../sim/interventions/world.js';
import { browserTest, useBrowser } from '../support/browser.js';
import { temporaryFolder } from '../support/fixture.js';
import { barriers } from './access.js';
import { keptRun, keptSweep } from './fixture.js';

const run = runsHere();

useBrowser();

/** Text with markup, bidirectional controls, invisible characters and an endless word. */
const hostile = `<img src=x onerror=alert(1)>\u202Egnp.exe\u2066\u200B\uFEFF${'A'.repeat(120)}`;

const making: Record<string, () => Promise<string>> = {
  'a run with faults': async () => {
    const folder = temporaryFolder();
    const whom = [{ count: 4 }];
    const cut = { kind: 'partition', start_ms: 20_000, length_ms: 40_000, whom } as const;
    await keptRun(folder, { scenario: { faults: [{ ...cut, direction: 'both' }] } });
    await writeRunReport(folder);
    return join(folder, 'report.html');
  },
  'a run with hostile names': async () => {
    const folder = temporaryFolder();
    const scenario = { title: hostile, question: hostile.repeat(20) };
    await keptRun(folder, { blocks: 12, groups: [hostile, 'town'], scenario });
    await writeRunReport(folder);
    return join(folder, 'report.html');
  },
  'a sweep': async () => {
    const folder = temporaryFolder();
    keptSweep(folder, {
      factors: [
        { path: 'links.loss', values: [0, 0.1, 0.2] },
        { path: 'consensus.policy', name: hostile, values: ['bft', hostile] },
      ],
    });
    await writeSweepReport(folder);
    return join(folder, 'report.html');
  },
  'two runs compared': async () => {
    const { folder: a } = await run(lively({ title: hostile.slice(0, 90), length: { blocks: 4 } }));
    const kept = readKept(a);
    const b = join(temporaryFolder(), 'fork');
    const added = { kind: 'silence', whom: [{ group: 'town', share: 0.3 }], at_height: 2 };
    await runFork(kept, forkScenario(kept, [added]), b);
    const found = await compareKept(a, b);
    const futures = await compareFutures(a, b, found.first?.seq);
    const file = join(temporaryFolder(), 'both.html');
    await writeComparison({ a, b, file, found, futures });
    return file;
  },
};

browserTest.each(Object.entries(making))(
  'access: %s has no barriers, in every mode, with all details opened',
  async (_, make) => {
    const file = await make();
    expect(await barriers(file)).toEqual([]);
    const page = readFileSync(file, 'utf8');
    expect(page.match(/[\u202A-\u202E\u2066-\u2069\u200B\uFEFF]/g)).toBeNull();
  },
);
