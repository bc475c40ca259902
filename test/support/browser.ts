import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

const shell = '/usr/bin/chromium-headless-shell';

/**
 * Path of Debian's headless shell if installed, or else of Chromium. Both use the same engine, and
 * the shell needs less than half the time per page.
 */
export const executablePath =
  process.env.CHROMIUM_PATH ?? (existsSync(shell) ? shell : '/usr/bin/chromium');
export const hasBrowser = existsSync(executablePath);

export const launch = (): Promise<Browser> =>
  chromium.launch({ executablePath, args: ['--no-sandbox'] });
