/// <reference lib="dom" />
/** Walks through a page by Tab and checks that the focus is visible. */
import type { Page } from 'playwright-core';

/** Selects tab stops. A list with a roving tab index has a single tab stop. */
const TAKES_KEYS = `a[href]:not([tabindex="-1"]), summary, [tabindex="0"],
  :is(button, input, select, textarea):enabled`;

export interface Walk {
  /** Tab stops that the walk did not reach. */
  missed: string[];
  /** Focused elements without a visible outline, or covered by a different element. */
  unseen: string[];
  stops: number;
}

/** Returns the label or text of the focused element; '' if there is none. */
export const focused = (tab: Page): Promise<string> =>
  tab.evaluate(() => {
    const { activeElement: here } = document;
    if (!here || here === document.body) return '';
    return here.getAttribute('aria-label') ?? here.textContent ?? '';
  });

/** Limit on tab stops, above the number in any view. */
const MOST = 1_000;

/** Presses a key until an element with a matching name has the focus. */
export async function tabTo(tab: Page, name: RegExp, key = 'Tab'): Promise<void> {
  for (let presses = 0; presses < MOST; presses += 1) {
    await tab.keyboard.press(key);
    if (name.test(await focused(tab))) return;
  }
  throw new Error(`${key} does not lead to ${name}`);
}

/** Walks once around the page, from the focused element back to the same element. */
export async function walkAround(tab: Page): Promise<Walk> {
  await tab.evaluate((all) => {
    const shown = [...document.querySelectorAll(all)].filter(
      (one) => one.checkVisibility() && !one.closest('dialog:not([open])'),
    );
    (globalThis as { left?: Set<Element> }).left = new Set(shown);
  }, TAKES_KEYS);
  const unseen = new Set<string>();
  let first: string | null = null;
  let stops = 0;
  for (; stops < MOST; stops += 1) {
    await tab.keyboard.press('Tab');
    const { name, seen, place } = await tab.evaluate(standsSeen);
    if (place === first) break;
    first ??= place;
    if (!seen) unseen.add(name);
  }
  const missed = await tab.evaluate(() =>
    [...(globalThis as { left?: Set<Element> }).left!].map((one) => one.outerHTML.slice(0, 200)),
  );
  return { missed, unseen: [...unseen], stops };
}

/** Runs in the page: marks the focused element as reached, and checks its visibility. */
function standsSeen() {
  const here = document.activeElement!;
  (globalThis as { left?: Set<Element> }).left!.delete(here);
  const all = [...document.querySelectorAll('*')];
  const place = String(all.indexOf(here));
  const name = here.outerHTML.slice(0, 120);
  if (here === document.body) return { name, seen: true, place };
  const { outlineStyle, outlineWidth } = getComputedStyle(here);
  const { left, top, width, height } = here.getBoundingClientRect();
  const parts = [0.05, 0.5, 0.95];
  const onTop = parts.some((x) =>
    parts.some((y) => {
      const there = document.elementFromPoint(left + x * width, top + y * height);
      return there !== null && here.contains(there);
    }),
  );
  return {
    name,
    place,
    seen: onTop && outlineStyle === 'solid' && Number.parseInt(outlineWidth, 10) > 1,
  };
}
