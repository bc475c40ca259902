/** Front processes of a test's servers. */
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import type { Request } from './signer.js';
import { call } from './world.js';

/** Returns a process's front processes. */
export function fronts(pid = process.pid): number[] {
  const children = readdirSync(`/proc/${pid}/task`).flatMap(
    (thread) => readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').match(/\d+/g) ?? [],
  );
  return children.map(Number).filter((child) => {
    try {
      return readFileSync(`/proc/${child}/cmdline`, 'utf8').includes('fronts/front.js');
    } catch {
      return false;
    }
  });
}

/** Sends the same bytes repeatedly until there is a response. */
export async function insist(url: string, request: Request): Promise<number> {
  for (;;) {
    try {
      return (await call(url, request)).status;
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      await pause(20);
    }
  }
}
