/** `folkmoot explore` of a folder, in a process of its own, and what it prints. */
import { type ChildProcess, spawn } from 'node:child_process';
import { main } from '../support/paths.js';

/** Where it serves; `over` is told how to stop it. */
export function explore(path: string, over: (stop: () => void) => void): Promise<string> {
  const args = [main, 'explore', path, '--json', '--open', 'no'];
  const child: ChildProcess = spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  over(() => child.kill());
  return new Promise((resolve) => {
    child.stdout!.setEncoding('utf8').on('data', (text: string) => {
      const [, found] = /"url":"([^"]+)"/.exec(text) ?? [];
      if (found) resolve(new URL(found).origin);
    });
  });
}
