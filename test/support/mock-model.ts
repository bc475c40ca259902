import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { root } from './paths.js';

/** Starts the mock model of the examples. Returns its URL. */
export async function mockModel(): Promise<string> {
  const program = join(root, 'examples/deciders/mock-model.mjs');
  const child = spawn(process.execPath, [program, '0'], { stdio: ['ignore', 'pipe', 'ignore'] });
  onTestFinished(() => void child.kill());
  const [text] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string];
  return `http://127.0.0.1:${(JSON.parse(text) as { port: number }).port}/v1`;
}
