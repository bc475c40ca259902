// Writes docs/pictures: the page's views, taken in a browser from a run that is made for it.
// Takes Chromium from the variable CHROMIUM, or where Debian has it.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const root = fileURLToPath(new URL('../', import.meta.url));
const folkmoot = join(root, 'dist/cli/main.js');
const folder = mkdtempSync(join(tmpdir(), 'folkmoot-pictures-'));
const run = join(folder, 'run');
const desktop = { width: 1280, height: 860 };
const telephone = { width: 390, height: 844 };

/** What is on each picture: a path of the page, and how it is looked at. */
const pictures = [
  { name: 'now', path: 'now?at=30000', size: desktop, colorScheme: 'light' },
  { name: 'now-dark', path: 'now?at=30000', size: desktop, colorScheme: 'dark' },
  { name: 'now-narrow', path: 'now?at=30000', size: telephone, colorScheme: 'light' },
  { name: 'opinion', path: 'opinion?at=30000', size: desktop, colorScheme: 'light' },
  { name: 'block', path: 'block?at=30000', size: desktop, colorScheme: 'light' },
  { name: 'explore', path: 'explore?at=30000', size: desktop, colorScheme: 'light' },
];

try {
  const size = ['--agents', '1000', '--blocks', '60', '--seed', '7'];
  spawnSync(process.execPath, [folkmoot, 'sim', ...size, '--out', run], { stdio: 'inherit' });
  await withPage(async (url) => {
    const browser = await chromium.launch({
      executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
      args: ['--no-sandbox'],
    });
    for (const { name, path, size: viewport, colorScheme } of pictures) {
      const page = await browser.newPage({ viewport, colorScheme, reducedMotion: 'reduce' });
      await page.goto(`${url}/ui/${path}`);
      // Drawn once the position is there, and nothing has moved for a moment.
      await page.getByText('entry 30,000').first().waitFor();
      await page.waitForLoadState('networkidle');
      await page.waitForTimeout(1_500);
      await page.screenshot({ path: join(root, `docs/pictures/${name}.png`) });
      await page.close();
    }
    await browser.close();
  });
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** Serves the run while `use` looks at it. */
async function withPage(use) {
  const args = [folkmoot, 'explore', run, '--port', '0', '--json'];
  const server = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    for await (const line of createInterface({ input: server.stdout })) {
      const { event, url } = JSON.parse(line);
      if (event !== 'listening') continue;
      await use(url);
      break;
    }
  } finally {
    server.kill('SIGTERM');
  }
}
