/** A process of its own that runs one scenario at a time, and answers with plain values. */
import { Console } from 'node:console';
import { Worker } from 'node:worker_threads';
import { ScenarioError } from '../scenario/problem.js';
import { simulate } from '../simulate.js';
import { type Failure, type Job, type Outcome, runsScripts } from './job.js';

// What a script prints must not get between the lines that the command prints.
globalThis.console = new Console(process.stderr);

// A signal from a terminal is for the command, which ends its processes in good order.
process.on('SIGINT', () => {});
process.on('SIGTERM', () => {});
process.on('disconnect', () => process.exit());

process.on('uncaughtException', (error) => {
  const { message, ...failure } = failureOf(error);
  tell({ failure: { ...failure, kind: 'crash', message: `the run died: ${message}` } });
});

process.on('message', async (job: Job) => {
  if (runsScripts(job)) watchOver();
  tell(await outcomeOf(job));
});

function tell(outcome: Outcome): void {
  process.send?.(outcome);
}

/** A script in an endless loop would outlive a command that was killed: a thread looks out. */
function watchOver(): void {
  const watch = `
    const parent = process.ppid;
    setInterval(() => {
      if (process.ppid !== parent) process.kill(process.pid, 'SIGKILL');
    }, 1000);`;
  new Worker(watch, { eval: true }).unref();
}

async function outcomeOf({ scenario, seed, folder }: Job): Promise<Outcome> {
  // The other core runs another job: a pool of verifiers would only be in its way.
  const verifier = scenario.signatures === 'verified' ? 'inline' : 'off';
  try {
    const options = { seed, verifier, store: 'memory' } as const;
    const found = folder === undefined ? {} : { folder };
    return { result: await simulate(scenario, { ...options, ...found }) };
  } catch (error) {
    return { failure: failureOf(error) };
  }
}

function failureOf(error: unknown): Failure {
  if (error instanceof ScenarioError) return { kind: 'scenario', message: error.message };
  if (!(error instanceof Error)) return { kind: 'crash', message: String(error) };
  const { message, stack } = error;
  const line = `${error.name}: ${message}`.split('\n', 1)[0]!;
  return { kind: 'crash', message: line, ...(stack === undefined ? {} : { stack }) };
}
