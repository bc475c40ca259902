/// <reference lib="dom" />
/** Opens an exported file from disk in a browser without a network. */
import { pathToFileURL } from 'node:url';
import type { Page } from 'playwright-core';
import { type Mode, modes, open } from '../browser.js';

/** Query that selects a place in the file. */
export interface Where {
  view?: string;
  item?: string | null;
  at?: number | null;
  [more: string]: string | number | null | undefined;
}

export const fileUrl = (path: string, where: Where = {}): string => {
  const url = pathToFileURL(path);
  for (const [name, value] of Object.entries(where)) {
    if (value !== null && value !== undefined) url.searchParams.set(name, String(value));
  }
  return url.href;
};

export function offline(path: string, where: Where = {}, mode: Mode = modes.light!) {
  return open(fileUrl(path, where), { ...mode, offline: true });
}

/** Returns the text of the given parts once it stops changing. */
export async function settled(tab: Page, parts: readonly string[] = ['main']): Promise<string[]> {
  const read = () =>
    tab.evaluate(
      (selectors) =>
        selectors.map((one) =>
          [...document.querySelectorAll<HTMLElement>(one)].map((part) => part.innerText).join('\n'),
        ),
      parts,
    );
  await tab.locator('.pill', { hasNotText: /^(connecting|reading the log)$/ }).waitFor();
  let before = await read();
  for (;;) {
    await tab.waitForTimeout(1_000);
    const now = await read();
    if (JSON.stringify(now) === JSON.stringify(before)) return now;
    before = now;
  }
}
