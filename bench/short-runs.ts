/** Child process of the case `sweep`: the runs of a sweep in a loop, in one process. */
import { simulate } from '../sim/run/simulate.js';
import { generateTasks, planSweep } from '../sim/sweep/plan.js';

const plan = planSweep(process.argv[2]!);
const each = () => plan.sweep.replicates;
for (const task of generateTasks(plan, each, () => true)) {
  const { scenario, seed, audit = true } = task;
  const { verdict } = await simulate(scenario, { seed, audit, log: 'none' });
  if (verdict !== 'pass') throw new Error(`run ${seed}: ${verdict}`);
}
