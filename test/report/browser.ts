/// <reference lib="dom" />
/** Reports as displayed in a real browser. */
import { pathToFileURL } from 'node:url';
import type { Page } from 'playwright-core';
import { browser } from '../support/browser.js';

export interface Shown {
  tab: Page;
  /** Errors on the page, and requests other than the one for the document. */
  complaints: string[];
}

export interface Setting {
  width: number;
  colorScheme: 'light' | 'dark';
  media?: 'print' | 'screen';
}

export async function show(file: string, setting: Setting): Promise<Shown> {
  const { width, colorScheme, media = 'screen' } = setting;
  const tab = await browser.newPage({ colorScheme, viewport: { width, height: 900 } });
  onTestFinished(() => tab.close());
  const complaints: string[] = [];
  const url = pathToFileURL(file).href;
  tab.on('console', (message) => complaints.push(message.text()));
  tab.on('pageerror', (error) => complaints.push(String(error)));
  tab.on('dialog', (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  tab.on('request', (request) => {
    if (request.url() !== url && !request.url().startsWith('data:')) complaints.push(request.url());
  });
  await tab.emulateMedia({ media });
  await tab.goto(url);
  return { tab, complaints };
}

/** Finds layout mistakes. Runs in the page. */
export const faults = (): string[] => {
  const found: string[] = [];
  const { documentElement } = document;
  const width = documentElement.clientWidth;
  const say = (text: string) => void found.push(text);
  if (documentElement.scrollWidth > width) say(`page is ${documentElement.scrollWidth} wide`);
  for (const figure of document.querySelectorAll('figure')) {
    const name = figure.querySelector('h3')!.textContent;
    const pictures = [...figure.querySelectorAll('svg.plot')].filter(
      (svg) => svg.getBoundingClientRect().height > 0,
    );
    if (pictures.length !== 1) say(`${name}: ${pictures.length} pictures`);
    for (const svg of pictures) {
      const box = svg.getBoundingClientRect();
      if (box.width < 200 || box.height < 60) say(`${name}: ${box.width} x ${box.height}`);
      for (const text of svg.querySelectorAll('text')) {
        const { left, right, top, bottom, width: wide } = text.getBoundingClientRect();
        if (wide === 0) continue;
        const outside = left < 0 || right > width || top < box.top - 1 || bottom > box.bottom + 1;
        if (outside) say(`${name}: "${text.textContent}" is cut off`);
      }
    }
    if (!figure.querySelector('figcaption')?.textContent.trim()) say(`${name}: no caption`);
  }
  return found;
};

/** Finds overlapping labels on an axis. Runs in the page. */
export const collisions = (): string[] => {
  const found: string[] = [];
  for (const svg of document.querySelectorAll('svg.plot')) {
    if (svg.getBoundingClientRect().height === 0) continue;
    const labels = [...svg.querySelectorAll('g[text-anchor] text, g text')].map((text) => ({
      text: text.textContent,
      box: text.getBoundingClientRect(),
    }));
    for (const [index, a] of labels.entries()) {
      for (const b of labels.slice(index + 1)) {
        const across = Math.min(a.box.right, b.box.right) - Math.max(a.box.left, b.box.left);
        const along = Math.min(a.box.bottom, b.box.bottom) - Math.max(a.box.top, b.box.top);
        if (across > 1 && along > 2) found.push(`"${a.text}" and "${b.text}"`);
      }
    }
  }
  return found;
};
