// Writes docs/pictures, which contains screenshots of the page with generated runs. Arguments
// select pictures by name. Uses Chromium from the variable CHROMIUM, or Debian's headless shell.
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
const desktop = { width: 1280, height: 860 };
const telephone = { width: 390, height: 844 };
const tall = { width: 1280, height: 1230 };

/**
 * Runs to show: the command that creates each run, and a text that appears once the run is drawn.
 */
const runs = {
  sim: {
    async make(out) {
      const size = ['--agents', '1000', '--blocks', '60', '--seed', '7'];
      spawnSync(process.execPath, [folkmoot, 'sim', ...size, '--out', out], { stdio: 'inherit' });
    },
    drawn: 'entry 30,000',
  },
  load: {
    async make(out) {
      const address = ['--port', '0', '--limits', 'off', '--data', `${out}-data`];
      await serving(['serve', ...address], async (url) => {
        const asked = ['--workload', 'votes', '--agents', '200', '--rate', '300'];
        const args = [...asked, '--duration', '30s', '--url', url, '--out', out];
        const load = spawn(process.execPath, [folkmoot, 'load', ...args], { stdio: 'inherit' });
        await new Promise((resolve) => load.on('close', resolve));
      });
    },
    drawn: 'Measured for',
  },
};

/** Pictures: page path, size and color scheme. */
const pictures = [
  { of: 'sim', name: 'now', path: 'now?at=30000', size: desktop, colorScheme: 'light' },
  { of: 'sim', name: 'now-dark', path: 'now?at=30000', size: desktop, colorScheme: 'dark' },
  { of: 'sim', name: 'now-narrow', path: 'now?at=30000', size: telephone, colorScheme: 'light' },
  { of: 'sim', name: 'network', path: 'network?at=30000', size: desktop, colorScheme: 'light' },
  { of: 'sim', name: 'opinion', path: 'opinion?at=30000', size: desktop, colorScheme: 'light' },
  { of: 'sim', name: 'block', path: 'block?at=30000', size: desktop, colorScheme: 'light' },
  { of: 'sim', name: 'explore', path: 'explore?at=30000', size: desktop, colorScheme: 'light' },
  { of: 'load', name: 'load', path: 'load', size: tall, colorScheme: 'light' },
];
const names = process.argv.slice(2);
const wanted = pictures.filter(({ name }) => names.length === 0 || names.includes(name));

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium-headless-shell',
  args: ['--no-sandbox'],
});
try {
  for (const [of, { make, drawn }] of Object.entries(runs)) {
    const taken = wanted.filter((picture) => picture.of === of);
    if (taken.length === 0) continue;
    const run = join(folder, of);
    await make(run);
    await serving(['explore', run, '--port', '0', '--json'], async (url) => {
      for (const picture of taken) await take(url, picture, drawn);
    });
  }
} finally {
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
}

async function take(url, { name, path, size: viewport, colorScheme }, drawn) {
  const page = await browser.newPage({ viewport, colorScheme, reducedMotion: 'reduce' });
  await page.goto(`${url}/ui/${path}`);
  // The page is drawn once the position appears, which a telephone hides, and the layout is stable.
  await page.getByText(drawn).first().waitFor({ state: 'attached' });
  await page.waitForLoadState('networkidle');
  await page.waitForTimeout(4_000);
  await page.screenshot({ path: join(root, `docs/pictures/${name}.png`) });
  await page.close();
}

/** Runs a server while `use` sends requests. */
async function serving(args, use) {
  const server = spawn(process.execPath, [folkmoot, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
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
