/// <reference lib="dom" />
/** Report accessibility: axe and visual checks, in every mode. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { collisions, faults, type Setting, show } from './browser.js';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core'), 'utf8');
const rules = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

const modes: (Setting & { forced?: boolean })[] = [
  { width: 1_280, colorScheme: 'light' },
  { width: 1_280, colorScheme: 'dark' },
  { width: 390, colorScheme: 'light' },
  { width: 390, colorScheme: 'dark', forced: true },
];

/**
 * Returns the accessibility problems on a page with all of its parts opened; empty if there are
 * none.
 */
export async function barriers(file: string): Promise<string[]> {
  const all: string[] = [];
  for (const { forced = false, ...mode } of modes) {
    const { tab, complaints } = await show(file, mode);
    await tab.emulateMedia({ forcedColors: forced ? 'active' : 'none' });
    await tab.evaluate(() => {
      for (const part of document.querySelectorAll('details')) part.open = true;
    });
    const seen = [...(await tab.evaluate(faults)), ...(await tab.evaluate(collisions))];
    const foreign = await tab.locator('img, iframe, object').count();
    await tab.evaluate(axe);
    const found = await tab.evaluate(async (values) => {
      const { axe } = window as unknown as { axe: typeof import('axe-core') };
      const { violations } = await axe.run(document, { runOnly: { type: 'tag', values } });
      return violations.map(({ id, nodes }) => `${id}: ${nodes[0]!.html.slice(0, 200)}`);
    }, rules);
    const told = [...seen, ...complaints, ...found, ...(foreign > 0 ? ['foreign parts'] : [])];
    all.push(...told.map((text) => `${JSON.stringify({ ...mode, forced })}: ${text}`));
  }
  return all;
}
