/** Opens an address in the user's browser, as far as there is one. */
import { spawn } from 'node:child_process';
import { say } from '../../output/output.js';
import type { ExploreFlags } from './flags.js';

/** Opens it where that was asked for, or nobody said anything at a terminal. */
export function openIfWanted(url: string, { open }: ExploreFlags): void {
  if (open === 'yes' || (open === undefined && process.stdout.isTTY)) openBrowser(url);
}

const openers: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

/** Waits for nothing: whoever has no browser here reads the address that was printed. */
function openBrowser(url: string): void {
  const [program, ...args] = openers[process.platform] ?? ['xdg-open'];
  const child = spawn(program!, [...args, url], { stdio: 'ignore', detached: true });
  child.on('error', () => say('folkmoot: no browser was found to open the page with'));
  child.unref();
}
