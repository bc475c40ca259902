/** Installs the package as a user: files, dependencies, programs. */
import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { root } from '../support/paths.js';
import { brought, install } from './project.js';

const project = mkdtempSync(join(tmpdir(), 'folkmoot-test-'));
let files: string[] = [];
beforeAll(() => {
  files = install(project);
});
afterAll(() => rmSync(project, { recursive: true, force: true }));

test('install: ships no development files', () => {
  const shipped = (prefix: string) => files.filter((path) => path.startsWith(prefix));
  expect(shipped('dist/bench/').filter((at) => !/^dist\/bench\/(load|raw)\//.test(at))).toEqual([]);
  expect(files.filter((at) => /\.map$|^(test|tools|node_modules)\/|\.test\./.test(at))).toEqual([]);
  expect(files).toEqual(expect.arrayContaining(['LICENSE', 'dist/vendor/LICENSES.txt']));
});

test('install: brings at most 100 packages, no telemetry, and two install scripts', () => {
  const names = [...brought().keys()].map((path) => path.replace(/^.*node_modules\//, ''));
  expect(names.length).toBeGreaterThan(50);
  // Including the package.
  expect(names.length + 1).toBeLessThanOrEqual(100);
  expect(names.filter((on) => /scarf|swagger|tree-sitter|core-js|rapidoc/.test(on))).toEqual([]);
  expect(names).not.toContain('uWebSockets.js');
  expect(names.filter((name) => name.startsWith('@modelcontextprotocol/'))).toEqual([]);
  const scripts = [...brought()].filter(([, { hasInstallScript }]) => hasInstallScript);
  // Both only look for a prebuilt binary, and work if scripts are disabled.
  expect(scripts.map(([path]) => path)).toEqual([
    'node_modules/lmdb',
    'node_modules/msgpackr-extract',
  ]);
  const { scripts: own } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  expect(Object.keys(own)).not.toContain('preinstall');
  expect(Object.keys(own)).not.toContain('install');
  expect(Object.keys(own)).not.toContain('postinstall');
});

test.skipIf(process.platform !== 'linux')('install: dependencies take at most 55 MB', () => {
  // A nested package is counted with its parent.
  const top = [...brought().keys()].filter((path) => path.lastIndexOf('node_modules/') === 0);
  const bytes = top.flatMap((path) =>
    readdirSync(join(root, path), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => statSync(join(parentPath, name)).size),
  );
  expect(bytes.reduce((sum, one) => sum + one, 0)).toBeLessThan(55e6);
});

test('install: no package asks for a newer Node than the package itself', () => {
  const own = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).engines.node as string;
  const wrong = [...brought()].filter(([, { engines }]) => {
    const last = engines?.node?.split('||').at(-1)?.trim();
    return last !== undefined && !(last.startsWith('>=') && since(last) <= since(own));
  });
  expect(wrong).toEqual([]);
});

/** Parses `>=20.19` as a comparable number. */
const since = (range: string): number => {
  const [major = 0, minor = 0] = range.match(/\d+/g)!.map(Number);
  return major * 1_000 + minor;
};

const program = readFileSync(new URL('./consumer/program.ts', import.meta.url), 'utf8');
const required = readFileSync(new URL('./consumer/required.cts', import.meta.url), 'utf8');

test.each([
  ['nodenext', 'nodenext'],
  ['esnext', 'bundler'],
])(
  'install: types check in an empty strict project, module %s, resolution %s',
  (module, moduleResolution) => {
    writeFileSync(join(project, 'program.mts'), program);
    if (module === 'nodenext') writeFileSync(join(project, 'required.cts'), required);
    const compilerOptions = {
      ...{ module, moduleResolution, target: 'es2023', strict: true, skipLibCheck: false },
      ...{ types: ['node'], outDir: 'out' },
    };
    const files = ['program.mts', ...(module === 'nodenext' ? ['required.cts'] : [])];
    writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
    expect(typed()).toBe('');
  },
  300_000,
);

/** Compiles the program to `out`. Returns the errors. */
function typed(): string {
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  try {
    return execFileSync(process.execPath, [tsc], { cwd: project, encoding: 'utf8' });
  } catch (error) {
    return (error as { stdout: string }).stdout;
  }
}

const run = promisify(execFile);
const here = { cwd: project };
/** This version of Node, and the versions of `test:full`. */
const listed = (process.env.FOLKMOOT_NODES ?? '').split(':').filter((path) => path !== '');
const nodes = [process.execPath, ...listed];

test.each(nodes)('install: an ES module and a CommonJS program run, by %s', async (node) => {
  const program = JSON.parse((await run(node, ['out/program.mjs'], here)).stdout);
  const pages = [200, 200];
  expect(program).toEqual({
    ...{ height: 1, pages, verdict: 'pass', transport: 'node', same: true, digits: 64 },
  });
  const required = await run(node, ['out/required.cjs'], here);
  expect(JSON.parse(required.stdout)).toEqual(['function', 64, 'function', 'function']);
});

const npx = ['--no-install', 'folkmoot'];
/** Digest of `sim --agents 12 --blocks 2 --seed 1`, on every platform and version of Node. */
const simDigest = '147609092a145fc5c77ea1b943617b643916d828725aa85b1defb6bf8c6dceb1';

test.skipIf(process.platform === 'win32').each(nodes)(
  'install: npx folkmoot sim gives the known digest, by %s',
  async (node) => {
    const wanted = ['sim', '--agents', '12', '--blocks', '2', '--seed', '1', '--json'];
    // npx runs with the first node of the path.
    const env = { ...process.env, PATH: `${dirname(node)}:${process.env.PATH}` };
    const { stdout } = await run('npx', [...npx, ...wanted], { ...here, env });
    expect(JSON.parse(stdout)).toMatchObject({ verdict: 'pass', digest: simDigest });
  },
);

test.skipIf(process.platform === 'win32')(
  'install: npx folkmoot serve says which transport serves and why; load measures it',
  async () => {
    const serve = ['serve', '--port', '0', '--limits', 'off', '--data', 'moot'];
    const child = spawn('npx', [...npx, ...serve], { cwd: project });
    const ended = once(child, 'exit');
    onTestFinished(async () => {
      child.kill('SIGTERM');
      await ended;
    });
    let log = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      log += text;
    });
    const failed = ended.then(() => Promise.reject(new Error(log)));
    failed.catch(() => {});
    const [line] = await Promise.race([once(createInterface(child.stdout), 'line'), failed]);
    const { url } = JSON.parse(line as string) as { url: string };
    await expect.poll(() => log).toContain('uWebSockets.js is not installed');
    const load = ['load', '--url', url, '--workload', 'reads', '--rate', '20'];
    const asked = [...npx, ...load, '--duration', '2s', '--warmup', '0s', '--json'];
    // On a busy machine the run can be invalid: exit code 14, with a result.
    const { stdout } = await run('npx', asked, here).catch((error) => {
      expect(error.code).toBe(14);
      return error as { stdout: string };
    });
    expect(JSON.parse(stdout).asked.workload).toBe('reads');
  },
);

test('install: worker loads the etcd client of the package', async () => {
  const worker = ['worker', '--queue', 'etcd://127.0.0.1:1'];
  const main = 'node_modules/folkmoot/dist/cli/main.js';
  const ended = await run(process.execPath, [main, ...worker], here).catch((error) => error);
  expect([ended.code, ended.stdout]).toEqual([1, '']);
  expect(ended.stderr).toMatch(/^folkmoot: etcd at 127\.0\.0\.1:1: .*ECONNREFUSED.*\n$/);
});

test('install: --transport uws without uWebSockets.js names the package to install', async () => {
  const main = 'node_modules/folkmoot/dist/cli/main.js';
  const serve = ['serve', '--port', '0', '--transport', 'uws', '--data', 'other'];
  const ended = await run(process.execPath, [main, ...serve], here).catch((error) => error);
  expect(ended.code).toBe(1);
  expect(ended.stderr).toMatch(/^folkmoot: uWebSockets.js is not installed; npm install .*\n$/);
});

test('install: mcp without the SDK names the package to install', async () => {
  const main = 'node_modules/folkmoot/dist/cli/main.js';
  await run(process.execPath, [main, 'keygen', '--out', 'ada.key.json'], here);
  const mcp = [main, 'mcp', '--key', 'ada.key.json'];
  const ended = await run(process.execPath, mcp, here).catch((error) => error);
  expect([ended.code, ended.stdout]).toEqual([1, '']);
  expect(ended.stderr).toMatch(/^folkmoot: .*@modelcontextprotocol\/server.* npm install .*\n$/);
});

test('install: MCP deciders need the SDK, except with a cassette', async () => {
  const strategy = { kind: 'mcp', tool: 'decide', command: ['node', 'mind.mjs'] };
  const agents = [{ group: 'minds', count: 4, producers: 1, strategy }];
  writeFileSync(join(project, 'minds.json'), JSON.stringify({ title: 'minds', agents }));
  const sim = ['node_modules/folkmoot/dist/cli/main.js', 'sim', 'minds.json'];
  const asked = await run(process.execPath, [...sim, '--record', '--out', 'minds'], here).catch(
    (error) => error,
  );
  expect([asked.code, asked.stdout]).toEqual([2, '']);
  expect(asked.stderr).toMatch(/^folkmoot: .*minds.*@modelcontextprotocol\/client/m);
  const taken = await run(process.execPath, [...sim, '--cassette', 'minds'], here).catch((e) => e);
  expect(taken.stderr).toMatch(/^folkmoot: cassette .*minds/m);
});
