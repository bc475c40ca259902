// Writes docs/pictures, which contains screenshots of the page with generated runs, and the record
// of the gallery. Arguments select pictures by name, or `gallery`. Uses Chromium from the variable
// CHROMIUM, or Debian's headless shell.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
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
if (names.length === 0 || names.includes('gallery')) recordGallery();
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

/**
 * Records how the run of each shipped scenario ends, and the processor time that it takes without
 * a page, for `folkmoot gallery`. Processor time depends less on other work than wall time.
 */
function recordGallery() {
  const out = join(folder, 'run');
  const spent = join(folder, 'spent');
  const preload = join(folder, 'spent.cjs');
  const used = 'const { user, system } = process.cpuUsage();';
  const write = `require('fs').writeFileSync(${JSON.stringify(spent)}, String(user + system));`;
  writeFileSync(preload, `process.on('exit', () => { ${used} ${write} });`);
  const run = (...args) =>
    spawnSync(process.execPath, ['--require', preload, folkmoot, ...args], { stdio: 'pipe' });
  const records = JSON.parse(String(run('gallery', '--json').stdout)).map(({ name }) => {
    run('sim', name, '--verifier', 'off', '--no-audit', '--out', out);
    const [head, ...lines] = readFileSync(join(out, 'blocks.csv'), 'utf8').trim().split('\n');
    const column = head.split(',').indexOf('status');
    const ends = lines.map((line) => line.split(',')[column]).filter((one) => one !== 'voting');
    rmSync(out, { recursive: true });
    run('sim', name, '--log', 'none', '--json');
    const cpu_ms = Math.round(Number(readFileSync(spent, 'utf8')) / 1_000);
    return [name, { outcomes: ends.map((one) => one[0].toUpperCase()).join(''), cpu_ms }];
  });
  const text = JSON.stringify(Object.fromEntries(records), null, 2);
  writeFileSync(join(root, 'sim/scenarios/gallery.json'), `${text}\n`);
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
