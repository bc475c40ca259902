/** Starts `folkmoot explore` in a separate process. */
import { type ChildProcess, spawn } from 'node:child_process';
import { main } from '../support/paths.js';

/** Returns the server's origin, and passes a function that stops the server to `over`. */
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
