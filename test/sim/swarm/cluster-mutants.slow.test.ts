/** Mutation test: the swarm of simulated clusters finds each bug that is seeded in its code. */
import { execFile } from 'node:child_process';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { full } from '../../support/counts.js';
import { mutant } from './mutant.js';

const execute = promisify(execFile);

/** Bugs as the file in dist/cluster, the text that it contains once, and the text instead. */
const bugs: readonly (readonly [name: string, file: string, find: string, becomes: string])[] = [
  [
    'a batch is confirmed before etcd has it',
    'node/appender.js',
    'await order.append(batch);',
    'void order.append(batch).catch(() => {});',
  ],
  [
    'requests that were sent wait as well',
    'node/appender.js',
    'this.#waiting.splice(0, asked.length);',
    'this.#waiting.splice(0, Math.max(0, asked.length - 1));',
  ],
  [
    'the callers of a batch get its results in reverse',
    'node/appender.js',
    'settle({ applied: applied[index] })',
    'settle({ applied: applied[applied.length - 1 - index] })',
  ],
  [
    'a batch is sent before the last one is confirmed',
    'node/appender.js',
    'await this.#append(this.#next());',
    'void this.#append(this.#next());',
  ],
  ['the name does not advance', 'order/etcd.js', 'const after = `', 'const after = before; void `'],
  [
    'a node follows from the batch after the next',
    'order/etcd.js',
    'from: from.revision + 1',
    'from: from.revision + 2',
  ],
  [
    'a repeated batch is applied again',
    'node/follower.js',
    'return position.version === version + 1;',
    'return position.version <= version + 1;',
  ],
  [
    'a node gives up after a broken stream',
    'node/follower.js',
    'if (!passing && !(error instanceof Gap))',
    'if (passing) return; if (!(error instanceof Gap))',
  ],
  [
    'time is that of the own clock',
    'node/node.js',
    'const time = Math.max(this.#mark.time, batch.stamp);',
    'const time = Math.max(this.#mark.time, this.#time.now());',
  ],
  [
    'time goes back to the stamp of a batch',
    'node/node.js',
    'const time = Math.max(this.#mark.time, batch.stamp);',
    'const time = batch.stamp;',
  ],
  [
    'the requests of a batch are applied in reverse',
    'node/node.js',
    'const verified = requests.map((one) => one.verified);',
    'const verified = requests.map((one) => one.verified); if (!isOwn) verified.reverse();',
  ],
  [
    'a card tells what is applied, not what is stored',
    'node/node.js',
    'const { seq, event_seq, digest, order } = this.#inner.read.stored;',
    'const { seq, event_seq, digest, order } = this.#inner.read.position;',
  ],
];

const MOST_SEEDS = 1_000;

/** Runs clusters of a copy of the package until one fails. Prints its seed and the kind. */
const untilFailure = (folder: string) => `
const { drawClusterPlan } = await import('${folder}/cluster-plan.js');
const { runCluster } = await import('${folder}/cluster-world.js');
for (let seed = 1; seed <= ${MOST_SEEDS}; seed += 1) {
  const { failure } = await runCluster(drawClusterPlan(seed));
  if (!failure) continue;
  console.log(JSON.stringify({ seed, kind: failure.kind }));
  process.exit();
}
process.exit(1);`;

const chosen = full ? bugs : bugs.filter((_, index) => index % 3 === 0);
test.each(chosen)('clusters: find the bug that %s', async (_, file, find, becomes) => {
  const program = mutant(`cluster/${file}`, find, becomes);
  const script = untilFailure(join(dirname(program), '../sim/swarm'));
  const args = ['--input-type=module', '--eval', script];
  const { stdout } = await execute(process.execPath, args);
  const { kind, seed } = JSON.parse(stdout) as { seed: number; kind: string };
  expect(['safety', 'liveness', 'crash'], `at seed ${seed}`).toContain(kind);
});
