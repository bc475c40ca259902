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

/** Browser of the current test file, which `useBrowser` starts. */
export let browser: Browser;

/** Starts a browser for a test file, then prepares the file's tests. Skipped without Chromium. */
export function useBrowser(prepare?: () => Promise<void>): void {
  beforeAll(async () => {
    if (!hasBrowser) return;
    browser = await launch();
    await prepare?.();
  });
  afterAll(() => browser?.close());
}

const skipping = test.skipIf(!hasBrowser);
const named = (name: string) => `${name} (needs ${executablePath})`;

/** A test in the file's browser, skipped without Chromium. */
export function browserTest(name: string, run: () => Promise<void>): void {
  skipping(named(name), run);
}

/** `browserTest` for each row. The members of an array become the parameters. */
browserTest.each =
  <const Row>(rows: readonly Row[]) =>
  (
    name: string,
    run: (...row: Row extends readonly [...infer Columns] ? Columns : [Row]) => Promise<void>,
  ) =>
    skipping.each(rows as readonly never[])(named(name), run as () => Promise<void>);
