/** Child process for jobs: runs one scenario at a time and returns plain values. */
import { DeciderError } from '../agents/deciders/adapter.js';
import { watchRealm } from '../agents/script/realm.js';
import { ScenarioError } from '../scenario/problem.js';
import type { Answer, Failure, Job, Outcome } from './jobs.js';
import { simulate } from './simulate.js';

// A terminal signals all processes, but the parent decides when runs end.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGBREAK'] as const) process.on(signal, () => {});
process.on('disconnect', () => process.exit());

/** Bound early, before a script can replace the function. */
const send = process.send!.bind(process);

/** True while no script has changed the language's objects. Created before the first script. */
let isUnchanged: (() => boolean) | null = null;

process.on('message', async (job: Job) => {
  if (job.modules) isUnchanged ??= watchRealm();
  const outcome = await runJob(job);
  send({ outcome, reusable: isUnchanged?.() ?? true } satisfies Answer);
});
process.on('uncaughtException', (error) => {
  const answer: Answer = { outcome: { failure: failureOf(error) }, reusable: false };
  send(answer, () => process.exit(1));
});

async function runJob(job: Job): Promise<Outcome> {
  const { scenario, audit = true, log, keep, ...given } = job;
  // Other jobs use the other cores, so a verifier pool would compete with those jobs.
  const verifier = scenario.signatures === 'verified' ? 'inline' : 'off';
  try {
    const unsaved = log === 'none' ? { log } : ({ verifier, store: 'memory' } as const);
    return { result: await simulate(scenario, { ...given, audit, ...(keep ?? unsaved) }) };
  } catch (error) {
    return { failure: failureOf(error) };
  }
}

function failureOf(error: unknown): Failure {
  if (error instanceof ScenarioError) return { kind: 'scenario', message: error.message };
  if (error instanceof DeciderError) return { kind: 'unanswered', message: error.message };
  if (!(error instanceof Error)) return { kind: 'crash', message: String(error) };
  const { message, stack } = error;
  const line = `${error.name}: ${message}`.split('\n', 1)[0]!;
  return { kind: 'crash', message: line, ...(stack === undefined ? {} : { stack }) };
}
