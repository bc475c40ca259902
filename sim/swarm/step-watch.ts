/**
 * Ends the process if a step of a simulated cluster does not end. Code that never waits for a call
 * of its clock blocks its thread, so a second thread watches the number of steps.
 */
import { writeSync } from 'node:fs';
import { isMainThread, Worker, workerData } from 'node:worker_threads';

/** Interval of looks. A step takes milliseconds. */
const LOOK_MS = 10_000;
/** Looks at the same step after which it counts as endless: the process may have been stopped. */
const MOST_LOOKS = 3;

/** Memory that both threads share: the number of steps so far, and the seed of the plan. */
const STEPS = 0;
const SEED = 1;

export class StepWatch {
  readonly #shared = new Int32Array(new SharedArrayBuffer(8));
  readonly #worker = new Worker(new URL('./step-watch.js', import.meta.url), {
    workerData: this.#shared,
  });

  constructor() {
    this.#worker.unref();
  }

  begin(seed: number): void {
    Atomics.store(this.#shared, SEED, seed);
  }

  readonly onStep = (): void => {
    Atomics.add(this.#shared, STEPS, 1);
  };

  close(): void {
    void this.#worker.terminate();
  }
}

/** Runs in the second thread. */
function watch(shared: Int32Array): void {
  let last = -1;
  let looks = 0;
  setInterval(() => {
    const steps = Atomics.load(shared, STEPS);
    looks = steps === last ? looks + 1 : 0;
    last = steps;
    if (looks < MOST_LOOKS) return;
    const seed = Atomics.load(shared, SEED);
    const again = `npx folkmoot swarm --cluster --first ${seed} --seeds 1`;
    const text = `a step of cluster ${seed} has not ended in ${(looks * LOOK_MS) / 1_000} s`;
    writeSync(2, `folkmoot: ${text}: its code loops; reproduce with: ${again}\n`);
    process.kill(process.pid, 'SIGKILL');
  }, LOOK_MS);
}

if (!isMainThread && workerData instanceof Int32Array) watch(workerData);
