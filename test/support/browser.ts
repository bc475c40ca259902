/** The browser of the tests. */
import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

const shell = '/usr/bin/chromium-headless-shell';

/**
 * Debian's headless shell, or Chromium where only that is installed. Both have the same engine. The
 * shell draws no window of its own, and a page costs it less than half of the time.
 */
export const executablePath =
  process.env.CHROMIUM_PATH ?? (existsSync(shell) ? shell : '/usr/bin/chromium');
export const hasBrowser = existsSync(executablePath);

export const launch = (): Promise<Browser> =>
  chromium.launch({ executablePath, args: ['--no-sandbox'] });
