/**
 * Prints how large the source tree is, and how much of it a vote, a simulation and a load run
 * execute. Requires `npm run build`. With --static, starts no programs.
 *
 * `--import tools/size.mjs` loads this file into the measured server, where it answers the messages
 * `begin` and `end` of the parent process.
 */
import { execFileSync, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { Session } from 'node:inspector';
import { tmpdir } from 'node:os';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const self = fileURLToPath(import.meta.url);
const root = fileURLToPath(new URL('../', import.meta.url));
const built = pathToFileURL(join(root, 'dist/')).href;
const program = join(root, 'dist/cli/main.js');

/** Functions of the server whose calls for one vote are counted: file in dist/ and name. */
const counted = {
  accounts: ['api/limits/limits.js', 'Account'],
  'account openings': ['api/limits/limits.js', '#open'],
  'quota calls': ['api/limits/limits.js', 'quota'],
};

// ---- The source files

const linesOf = (text) => text.split('\n').length - 1;
const isCode = (path) => /\.(ts|tsx|mjs)$/.test(path);
const isTest = (path) => path.startsWith('test/');
const sumOf = (files) => files.reduce((sum, { lines }) => sum + lines, 0);
const summary = (files) => `${number(files.length)} files, ${number(sumOf(files))} lines`;
const number = (value) => value.toLocaleString('en-US');

function readSources() {
  const paths = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' });
  return paths
    .split('\0')
    .filter((path) => /\.(ts|tsx|mjs|js|py|css)$/.test(path))
    .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }))
    .map(({ path, text }) => ({ path, text, lines: linesOf(text) }));
}

/** Returns the importers of each file: imports, re-exports, and URLs of workers. */
function findImporters(files) {
  const known = new Set(files.map(({ path }) => path));
  const importers = new Map(files.map(({ path }) => [path, new Set()]));
  for (const { path, text } of files) {
    for (const [, target] of text.matchAll(/(?:\bfrom|\bimport|\bURL\()[ (]*'(\.[^']+)'/g)) {
      const file = normalize(join(dirname(path), target));
      const stem = file.replace(/\.js$/, '');
      const found = [file, `${stem}.ts`, `${stem}.tsx`].find((one) => known.has(one));
      if (found) importers.get(found).add(path);
    }
  }
  return importers;
}

/** True if the only importer is in the same folder, or in the folder above or below. */
function hasOneImporterNearby(path, importers) {
  const [only, ...others] = importers.get(path);
  if (only === undefined || others.length > 0) return false;
  const [here, there] = [dirname(path), dirname(only)];
  return here === there || dirname(here) === there || here === dirname(there);
}

function measureSources() {
  const all = readSources();
  const sources = all.filter(({ path }) => isCode(path) && !isTest(path));
  const importers = findImporters(sources);
  const tops = [...new Set(sources.map(({ path }) => path.split('/')[0]))].sort();
  const under = (top) => sources.filter(({ path }) => path.split('/')[0] === top);
  const others = ['js', 'py', 'css'].map((ending) => [
    `.${ending}, not counted above`,
    summary(all.filter(({ path }) => path.endsWith(`.${ending}`) && !isTest(path))),
  ]);
  return [
    ['source (.ts, .tsx, .mjs outside test/)', summary(sources)],
    ...tops.map((top) => [`  ${top}`, summary(under(top))]),
    ['source files under 60 lines', sources.filter(({ lines }) => lines < 60).length],
    [
      'source files under 120 lines with one importer nearby',
      sources.filter(({ path, lines }) => lines < 120 && hasOneImporterNearby(path, importers))
        .length,
    ],
    ...others,
    ['test (.ts, .tsx, .mjs)', summary(all.filter(({ path }) => isCode(path) && isTest(path)))],
  ];
}

// ---- Executed code, from V8's coverage

/** Called functions without the bodies of modules. The name of an anonymous function is empty. */
function findCalls(scripts) {
  return scripts
    .filter(({ url }) => url.startsWith(built))
    .flatMap(({ url, functions }) =>
      functions
        .filter(({ ranges }) => ranges[0].count > 0)
        .map(({ functionName, ranges }) => ({
          file: url.slice(built.length),
          name: functionName.replace(/^<.*>$/, ''),
          isModule: ranges[0].startOffset === 0 && functionName === '',
          key: `${url} ${ranges[0].startOffset}`,
          calls: ranges[0].count,
        })),
    )
    .filter(({ isModule }) => !isModule);
}

const distinct = (items) => number(new Set(items).size);

function describeCalls(calls) {
  const named = calls.filter(({ name }) => name !== '');
  const files = distinct(calls.map(({ file }) => file));
  return `${files} files executed, ${distinct(named.map(({ key }) => key))} named functions`;
}

/** Runs a command of `folkmoot`, and counts the files and functions that it executes. */
async function measureCommand(args) {
  const folder = mkdtempSync(join(tmpdir(), 'folkmoot-size-'));
  const env = { ...process.env, NODE_V8_COVERAGE: folder };
  try {
    const child = spawn(process.execPath, [program, ...args], { env, stdio: 'ignore' });
    const [code] = await once(child, 'exit');
    // 14: a load run on a busy machine, whose figures are not valid. It executes the same code.
    if (code !== 0 && code !== 14)
      throw new Error(`folkmoot ${args.join(' ')}: exit code ${code}; run it alone`);
    const scripts = readdirSync(folder).flatMap(
      (file) => JSON.parse(readFileSync(join(folder, file), 'utf8')).result,
    );
    const loaded = scripts.filter(({ url }) => url.startsWith(built)).map(({ url }) => url);
    return `${distinct(loaded)} files loaded, ${describeCalls(findCalls(scripts))}`;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Starts a server of this build in a temporary folder, and passes its URL to `use`. */
async function withServer(execArgv, use) {
  const folder = mkdtempSync(join(tmpdir(), 'folkmoot-size-'));
  const args = ['serve', '--port', '0', '--data', join(folder, 'data'), '--limits', 'bench'];
  args.push('--transport', 'node', '--no-ui', '--log-level', 'warn');
  const server = fork(program, args, { execArgv, stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
  const ended = once(server, 'exit');
  try {
    const [line] = await Promise.race([once(server.stdout, 'data'), ended]);
    const url = String(line).match(/http:\/\/[\w.:]+/)?.[0];
    if (!url) throw new Error(`no address in the server's first line: ${line}; run folkmoot serve`);
    server.stdout.resume();
    return await use(url, server);
  } finally {
    server.kill();
    await ended;
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Measures one vote, from the socket to the disk and to a subscriber, in the server's thread. */
async function measureVote(url, server) {
  const { AgentClient, generateKeys } = await import('../dist/api/client/index.js');
  const agents = Array.from({ length: 9 }, () => new AgentClient({ url, keys: generateKeys() }));
  for (const agent of agents) {
    const capabilities = ['validator', 'producer'];
    await agent.register({ name: 'Ada', personality: 'lawful', capabilities });
  }
  const events = agents[0].events(['consensus']);
  const vote = async (agent, block_hash) => {
    await agent.vote({ block_hash, decision: 'approve' });
    for (;;) {
      const { type, data } = (await events.next()).value;
      if (type === 'block_validation' && data.validator.id === agent.agentId) return;
    }
  };
  const ask = async (message) => {
    const answer = once(server, 'message');
    server.send(message);
    return (await answer)[0];
  };
  await events.opened;
  const warm = await agents[0].propose();
  for (const agent of agents.slice(0, 4)) await vote(agent, warm.block_hash);
  await ask('begin');
  await vote(agents[4], warm.block_hash);
  const { scripts, clockReads } = await ask('end');
  await events.return();
  const calls = findCalls(scripts);
  const reads = Object.entries(clockReads).map(([folder, count]) => `${count} in ${folder}`);
  return [
    ['vote, in the main thread of the server', describeCalls(calls)],
    ['  clock reads', reads.sort().join(', ')],
    ...Object.entries(counted).map(([title, target]) => [`  ${title}`, countCalls(calls, target)]),
  ];
}

function countCalls(calls, [file, name]) {
  if (!readFileSync(join(root, 'dist', file), 'utf8').includes(name)) {
    throw new Error(`no function in dist/${file}: ${name}; correct the table in tools/size.mjs`);
  }
  const called = calls.filter((call) => call.file === file && call.name === name);
  return called.reduce((sum, call) => sum + call.calls, 0);
}

/** In the measured server: counts calls from `begin` to `end`. */
function measureThisProcess() {
  const session = new Session();
  session.connect();
  const post = (method, parameters) =>
    new Promise((resolve, reject) => {
      const done = (error, result) => (error ? reject(error) : resolve(result));
      session.post(method, parameters, done);
    });
  post('Profiler.enable');
  post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  let clockReads = {};
  for (const [clock, name] of [
    [performance, 'now'],
    [Date, 'now'],
    [process.hrtime, 'bigint'],
  ]) {
    const read = clock[name].bind(clock);
    clock[name] = () => {
      const folder = new Error().stack.split('\n')[2]?.split(built)[1]?.split('/')[0];
      if (folder !== undefined) clockReads[folder] = (clockReads[folder] ?? 0) + 1;
      return read();
    };
  }
  process.on('message', async (message) => {
    const { result: scripts } = await post('Profiler.takePreciseCoverage');
    if (message === 'begin') clockReads = {};
    process.send(message === 'begin' ? {} : { scripts, clockReads });
  });
  process.channel.unref();
}

async function measureAll() {
  const rows = measureSources();
  if (!process.argv.includes('--static')) {
    rows.push(...(await withServer(['--import', import.meta.url], measureVote)));
    rows.push(['simulation of 40 agents', await measureCommand(['sim', '--agents', '40'])]);
    const load = (url) =>
      measureCommand(['load', '--url', url, '--agents', '20', '--duration', '2s', '--rate', '50']);
    rows.push(['load run', await withServer([], load)]);
  }
  const width = Math.max(...rows.map(([title]) => title.length));
  for (const [title, value] of rows) process.stdout.write(`${title.padEnd(width)}  ${value}\n`);
}

if (process.argv[1] === self) await measureAll();
else if (process.send) measureThisProcess();
