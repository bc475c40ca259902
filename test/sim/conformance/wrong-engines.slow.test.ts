/** Wrong implementations of attendance: the vectors distinguish each from the protocol. */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { caseNames } from 'folkmoot/sim';
import { temporaryFolder } from '../../support/fixture.js';
import { root } from '../../tidy/sources.js';
import { attendance, places } from '../audit/mutants-attendance.js';
import { bugIn, type Mutant } from '../audit/mutants-terms.js';

const child = fileURLToPath(new URL('./wrong-engines-child.mjs', import.meta.url));
const cases = caseNames().filter((name) => /^(attendance-|places$)/.test(name));

const reputation = bugIn('core/reputation.js');

/** Mistakes made by implementers who had only the protocol document. */
const implementers: Mutant[] = [
  {
    name: 'an elector that is not active becomes dormant',
    file: 'core/reputation.js',
    find: 'if (weight === undefined || agent.dormant ||',
    becomes: 'if ((weight === undefined && !seeded(false, true)) || agent.dormant ||',
  },
  reputation(
    'judged is the ordinal of the block, plus 1',
    'standings.set(agent, column.judged, «blocks.count → ordinal + 1»)',
  ),
  reputation(
    'failed_blocks is the ordinal of the block, plus 1',
    'state.failedBlocks = «blocks.count → ordinal + 1»',
  ),
];

interface Played {
  reached: number;
  digests: Record<string, string>;
}

/** A package with a copy of the build, in which one bug may be seeded. */
function play(folder: string, mutant: Mutant | null): Played {
  mkdirSync(folder);
  cpSync(join(root, 'package.json'), join(folder, 'package.json'));
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  const vectors = 'sim/conformance/cases';
  cpSync(join(root, vectors), join(folder, vectors), { recursive: true });
  const filter = (path: string) => !/\.(map|d\.ts)$|dist\/ui\//.test(path);
  cpSync(join(root, 'dist'), join(folder, 'dist'), { recursive: true, filter });
  const task = join(folder, 'task.json');
  writeFileSync(task, JSON.stringify({ mutant, cases }));
  const printed = execFileSync(process.execPath, [child, folder, task], { encoding: 'utf8' });
  return JSON.parse(printed) as Played;
}

test('vectors: detect each wrong rule of attendance and of places', () => {
  const folder = temporaryFolder();
  const right = play(join(folder, 'right'), null);
  expect(Object.keys(right.digests)).toEqual(cases);
  const missed = [...implementers, ...attendance, ...places].filter((mutant, index) => {
    const wrong = play(join(folder, `${index}`), mutant);
    return cases.every((name) => wrong.digests[name] === right.digests[name]);
  });
  expect(missed.map(({ name }) => name)).toEqual([]);
});
