/**
 * Plays random lives on copies of the engine with the auditor attached. Bundled and run as a child
 * process. Argument: a JSON file of `Errand`s. Prints one JSON line per errand.
 */
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import type { GenesisOptions } from 'folkmoot';
import { Auditor, violationText } from 'folkmoot/sim';
import { attempts, genesis } from '../../engine/random/random.js';
import { START_MS } from '../../support/citizens.js';
import { auditedLife } from './life.js';

export interface Errand {
  name: string;
  /** Path of the copy's engine/index.js. */
  engine: string;
  genesis: Partial<GenesisOptions>;
  /** True to find the bug by safety rules alone; predictions would find the bug earlier. */
  safety: boolean;
}

export interface Report {
  name: string;
  /** Number of times the seeded bug made a difference. */
  ran: number;
  lives: number;
  violation: { rule: string; text: string } | null;
}

const LIVES = 60;
let ran = 0;
Object.assign(globalThis, {
  seeded: <T>(was: T, is: T): T => {
    if (was !== is) ran += 1;
    return is;
  },
});

const sample = fc.sample(fc.tuple(genesis, attempts(120)), { numRuns: LIVES, seed: 7 });

async function run(errand: Errand): Promise<Report> {
  const { Network, createVerifier, virtualClock } = (await import(
    errand.engine
  )) as typeof import('folkmoot');
  const verifier = createVerifier('off');
  ran = 0;
  for (const [index, [drawn, script]] of sample.entries()) {
    const options = { ...drawn, ...errand.genesis };
    const clock = virtualClock(START_MS);
    const network = await Network.open({
      memory: true,
      genesis: options,
      verifier,
      clock,
      onFatal: () => {},
    });
    const auditor = new Auditor(network.genesis);
    const violation = await auditedLife({ network, clock, auditor }, script, !errand.safety);
    await network.close();
    if (!violation) continue;
    const { rule } = violation;
    const found = { rule, text: violationText(violation) };
    return { name: errand.name, ran, lives: index + 1, violation: found };
  }
  return { name: errand.name, ran, lives: LIVES, violation: null };
}

const errands = JSON.parse(readFileSync(process.argv[2]!, 'utf8')) as Errand[];
for (const errand of errands) process.stdout.write(`${JSON.stringify(await run(errand))}\n`);
