/// <reference lib="dom" />
/** Opens the page in a real browser and records its errors and foreign requests. */
import { createRequire } from 'node:module';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { browser } from '../support/browser.js';
import { full } from '../support/counts.js';

export interface Opened {
  tab: Page;
  /** Console lines, errors, dialogs, and requests to other hosts. */
  complaints: string[];
}

export type Mode = BrowserContextOptions;

/** Colour schemes and window sizes. */
export const modes: Readonly<Record<string, Mode>> = {
  light: { colorScheme: 'light', viewport: { width: 1280, height: 860 } },
  dark: { colorScheme: 'dark', viewport: { width: 1280, height: 860 } },
  narrow: { colorScheme: 'light', viewport: { width: 390, height: 844 } },
  'narrow and dark': { colorScheme: 'dark', viewport: { width: 390, height: 844 } },
  'forced colours': { forcedColors: 'active', viewport: { width: 1280, height: 860 } },
};

/** Modes for checks of whole pages. Quick runs cover each scheme and each width once. */
export const checkedModes: readonly string[] = full
  ? Object.keys(modes)
  : ['light', 'narrow and dark', 'forced colours'];

/** Timeout that ends only hanging tests, because a busy machine may be slow. */
const MOST_MS = 120_000;

/** Opens an empty tab that is closed after the test. */
export async function newTab(mode: Mode = {}, by = browser): Promise<Page> {
  const tab = await by.newPage(mode);
  tab.setDefaultTimeout(MOST_MS);
  onTestFinished(() => tab.close());
  return tab;
}

export async function open(url: string, mode: Mode = {}, by = browser): Promise<Opened> {
  const tab = await newTab(mode, by);
  const complaints: string[] = [];
  const own = new URL(url).host;
  tab.on('console', (message) => complaints.push(`console: ${message.text()}`));
  tab.on('pageerror', (error) => complaints.push(`error: ${error}`));
  tab.on('dialog', (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  tab.context().on('request', (request) => {
    const asked = new URL(request.url());
    if (asked.host !== own && !/^(?:data|blob):$/.test(asked.protocol)) {
      complaints.push(`asked ${asked.href}`);
    }
  });
  await tab.goto(url);
  await tab.waitForSelector('main h1, main h2, rapi-doc');
  return { tab, complaints };
}

/** Resizes the window to the page height, so that the playback bar covers no content. */
async function wholeInView(tab: Page): Promise<void> {
  const heightOf = () => tab.evaluate(() => document.documentElement.scrollHeight);
  const { width, height } = tab.viewportSize()!;
  let needed = height;
  for (let quiet = 0, tries = 0; quiet < 3 && tries < 40; tries += 1) {
    await tab.waitForTimeout(100);
    const now = await heightOf();
    quiet = now <= needed ? quiet + 1 : 0;
    if (now <= needed) continue;
    needed = now;
    await tab.setViewportSize({ width, height: needed });
  }
}

/** Returns the number of pixels by which the page is wider than the window. */
export const overflow = (tab: Page): Promise<number> =>
  tab.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/** Returns the violations of WCAG 2.2 AA and best practices that axe finds, with their elements. */
export async function accessFaults(tab: Page): Promise<string[]> {
  const session = await tab.context().newCDPSession(tab);
  // The page's CSP would block the test's scripts.
  await session.send('Page.setBypassCSP', { enabled: true });
  await tab.reload();
  await tab.waitForSelector('main h1, main h2');
  await wholeInView(tab);
  await tab.addScriptTag({ path: axe });
  return tab.evaluate(async () => {
    const { axe: checker } = globalThis as unknown as {
      axe: { run(options: object): Promise<{ violations: Violation[] }> };
    };
    interface Violation {
      id: string;
      help: string;
      nodes: { html: string; failureSummary: string }[];
    }
    const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
    const { violations } = await checker.run({ runOnly: tags });
    return violations.flatMap(({ id, help, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${help}: ${html} ${failureSummary}`),
    );
  });
}

/** Tolerance per channel, out of 255, for antialiased edges. */
const SMOOTHED = 2;

/** Returns true if two screenshots are equal within the tolerance. */
export async function sameImage(one: Buffer, other: Buffer): Promise<boolean> {
  if (one.equals(other)) return true;
  const page = await browser.newPage();
  try {
    const images = [one, other].map((image) => `data:image/png;base64,${image.toString('base64')}`);
    const most = await page.evaluate(async (urls) => {
      const pixels = async (url: string) => {
        const image = new Image();
        image.src = url;
        await image.decode();
        const canvas = new OffscreenCanvas(image.width, image.height);
        const context = canvas.getContext('2d')!;
        context.drawImage(image, 0, 0);
        return context.getImageData(0, 0, image.width, image.height);
      };
      const [a, b] = await Promise.all([pixels(urls[0]!), pixels(urls[1]!)]);
      if (a.width !== b.width || a.height !== b.height) return 256;
      return a.data.reduce((worst, value, at) => Math.max(worst, Math.abs(value - b.data[at]!)), 0);
    }, images);
    return most <= SMOOTHED;
  } finally {
    await page.close();
  }
}
