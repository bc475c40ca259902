/// <reference lib="dom" />
/** A run in one file, opened from the disk by a browser that has no network. */
import { pathToFileURL } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { type Mode, modes, type Opened, open } from '../browser.js';

/** Where in the file: a view, a thing in it, an entry, as the page's own links say it. */
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

/** @returns also whatever it complains of */
export function offline(
  browser: Browser,
  path: string,
  where: Where = {},
  mode: Mode = modes.light!,
): Promise<Opened> {
  return open(browser, fileUrl(path, where), { ...mode, offline: true });
}

/** All words and figures of some parts, once there is a network and they do not change any more. */
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
