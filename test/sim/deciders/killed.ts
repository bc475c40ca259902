/** Runs that are killed, as nothing can be prepared for. */
import { spawn } from 'node:child_process';
import { main } from '../../support/paths.js';

/** Runs it and kills it once `until` says so. */
export async function killed(args: readonly string[], until: () => boolean): Promise<void> {
  const child = spawn(process.execPath, [main, 'sim', ...args], { stdio: 'ignore' });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  let over = false;
  ended.then(() => {
    over = true;
  });
  while (!over && !until()) await new Promise((resolve) => setTimeout(resolve, 5));
  child.kill('SIGKILL');
  await ended;
}
