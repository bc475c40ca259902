/** Starts `folkmoot serve` with a new network for a test. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';
import { temporaryFolder } from '../support/fixture.js';
import { main } from '../support/paths.js';

/** First output line of `serve`. */
export interface Listening {
  event: 'listening';
  url: string;
  ws_url: string;
  network_id: string;
}

/** Serves on a free port until the end of the test. */
export async function served(...options: string[]): Promise<Listening> {
  const folder = temporaryFolder();
  const args = ['serve', '--limits', 'bench', '--port', '0', '--data', folder, ...options];
  const child = spawn(process.execPath, [main, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = new Promise<void>((resolve) => {
    child.once('close', () => resolve());
  });
  onTestFinished(async () => {
    child.kill('SIGTERM');
    await ended;
  });
  let complaints = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaints += text;
  });
  return new Promise((resolve, reject) => {
    createInterface(child.stdout).once('line', (line) => resolve(JSON.parse(line) as Listening));
    child.once('close', () => reject(new Error(`serve ended before it listened: ${complaints}`)));
  });
}
