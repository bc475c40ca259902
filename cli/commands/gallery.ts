/**
 * The shipped scenarios, in the terminal or as a page: what each asks, how long its run takes, and
 * what to expect. The page starts `folkmoot sim --watch` for the scenario that its reader clicks.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Control, ControlCommand, Exhibit, GalleryView } from '../../api/contract/control.js';
import type { Refusal } from '../../engine/protocol/schema/reason.js';
import type { Scenario } from '../../sim/index.js';
import type { Outcome } from '../../sim/run/jobs.js';
import { CliCommand } from '../options/options.js';
import {
  assertUiServerFlags,
  resolveAddress,
  type UiServerFlags,
  uiServerOptions,
} from '../options/ui-server.js';
import { aborted, exitCodes, interruption, listenError } from '../output/exit.js';
import { setExitCode } from '../output/io.js';
import { printJson, writeStderr, writeStdout } from '../output/output.js';

interface GalleryFlags extends UiServerFlags {
  run?: boolean;
  watch?: true;
  json?: boolean;
}

type Listed = Omit<Exhibit, 'groups' | 'links' | 'state'>;

/** Outcome of an exhibit's own run. */
interface Shown {
  verdict: string;
  wall_ms: number;
  /** Shares of the closed blocks. */
  blocks: Partial<Record<keyof typeof marks, number>>;
}

interface Loaded {
  name: string;
  scenario: Scenario;
  folder: string;
}

export function galleryCommand(): CliCommand {
  return new CliCommand('gallery')
    .description('show the shipped scenarios, and the command for each')
    .argument('[name...]', 'scenarios to show (default: all)')
    .option('--run', 'run each, and show its outcome and run time')
    .option('--watch', 'show them on a page, and run one by a click')
    .addOptions(uiServerOptions())
    .option('--json', 'print one JSON array')
    .notes(`
A bar shows the closed blocks of a recorded run in order: finalized (#),
rejected (x), expired (.) and orphaned (~). With --run, the bar shows their
shares in a run on this machine. Scenarios with external deciders need recorded
answers, so their run fails here.

--watch serves a page until Ctrl+C. With the token in its address, a click
starts folkmoot sim NAME --watch and opens its page.`)
    .examples(
      'gallery',
      'gallery --watch',
      'gallery cartel two-blocs --run',
      "gallery --json | jq -r '.[].command'",
    )
    .action(show);
}

async function show(names: readonly string[], flags: GalleryFlags): Promise<void> {
  const { run, json, watch } = flags;
  assertUiServerFlags(flags);
  const { loadScenario, shippedScenarios } = await import('../../sim/index.js');
  const wanted = names.length > 0 ? names : shippedScenarios().map(({ name }) => name);
  const all = wanted.map((name): Loaded => ({ name, ...loadScenario(name) }));
  const records = readRecords();
  if (watch) return serve(all, records, flags);
  if (run) return runEach(all, records, json === true);
  const rows = all.map((one) => describe(one, records));
  if (json) printJson(rows);
  else writeStdout(...rows.flatMap(card));
}

async function runEach(all: readonly Loaded[], records: Records, json: boolean): Promise<void> {
  const { JobWorker, toJobLimits } = await import('../../sim/run/jobs.js');
  const { signal, end } = interruption();
  const worker = new JobWorker(toJobLimits({}));
  const rows: (Listed & Shown)[] = [];
  try {
    for (const one of all) {
      const { name, scenario, folder } = one;
      if (!json) writeStderr(`folkmoot: runs ${name}`);
      const started = performance.now();
      const job = { scenario, seed: scenario.seed, folder, log: 'none' as const };
      const outcome = await worker.run(job, signal);
      if (signal.aborted) return end();
      const row = { ...describe(one, records), ...toShown(outcome, started) };
      if (row.verdict !== row.expect) setExitCode(exitCodes.noProgress);
      rows.push(row);
      if (!json) writeStdout(...card(row));
    }
  } finally {
    await worker.close();
  }
  if (json) printJson(rows);
}

/** Recorded runs, by scenario. Written by `node tools/pictures.mjs gallery`. */
type Records = Readonly<Record<string, Pick<Exhibit, 'outcomes' | 'cpu_ms'>>>;

const recordsFile = new URL('../../../sim/scenarios/gallery.json', import.meta.url);

const readRecords = (): Records => JSON.parse(readFileSync(recordsFile, 'utf8')) as Records;

function describe({ name, scenario }: Loaded, records: Records): Listed {
  const { title, question, population, consensus, expect, length } = scenario;
  const { blocks, virtual_ms: ms } = length;
  const ends = [
    ...(blocks === undefined ? [] : [`${blocks} blocks`]),
    ...(ms === undefined ? [] : [`${ms / 1000} s of virtual time`]),
    ...(length.until === undefined ? [] : ['a condition']),
  ];
  const { outcomes = '', cpu_ms = null } = records[name] ?? {};
  return {
    ...{ name, title, question, agents: population, rule: consensus.policy, expect },
    length: ends.join(', or '),
    command: `folkmoot sim ${name} --watch`,
    ...{ outcomes, cpu_ms },
  };
}

function toShown(outcome: Outcome, started: number): Shown {
  const wall_ms = Math.round(performance.now() - started);
  if ('failure' in outcome) return { verdict: outcome.failure.kind, wall_ms, blocks: {} };
  const { verdict, measures } = outcome.result;
  const names = Object.keys(marks) as (keyof typeof marks)[];
  const blocks = Object.fromEntries(names.map((name) => [name, measures[`${name}_share`] ?? 0]));
  return { verdict, wall_ms, blocks };
}

const marks = { finalized: '#', rejected: 'x', expired: '.', orphaned: '~' } as const;

/** Width of the bar, in characters. */
const BAR = 40;

type Row = Listed & Partial<Shown>;

function card(row: Row): string[] {
  const { name, title, question, agents, rule, length, expect, command } = row;
  const facts = `${agents} agents, rule ${rule}, until ${length}; expect ${expect}`;
  return [`${name}: ${title}`, `  ${question}`, `  ${facts}`, ...outcomeLine(row), `  ${command}`];
}

function outcomeLine({ verdict, wall_ms, cpu_ms, blocks, outcomes }: Row): string[] {
  const ms = wall_ms ?? cpu_ms;
  if (ms === null) return [];
  const known = Object.entries(marks);
  const bar = blocks
    ? known.map(([name, mark]) => mark.repeat(Math.round(BAR * (blocks[name as Mark] ?? 0))))
    : Array.from({ length: Math.min(BAR, outcomes.length) }, (_, place) => {
        const letter = outcomes[Math.floor((place * outcomes.length) / BAR)] ?? '';
        return known.find(([name]) => name.startsWith(letter.toLowerCase()))?.[1] ?? ' ';
      });
  const text = `${verdict ?? 'recorded run'} in ${(ms / 1000).toFixed(1)} s`;
  return [`  [${bar.join('').slice(0, BAR).padEnd(BAR)}] ${text}`];
}

type Mark = keyof typeof marks;

// ---- The gallery as a page

async function serve(all: readonly Loaded[], records: Records, flags: GalleryFlags): Promise<void> {
  const { startGalleryServer } = await import('../../api/load-server.js');
  const { host, port } = resolveAddress(flags);
  const { signal, end } = interruption();
  const exhibits = await Promise.all(
    all.map(async (one) => ({ ...describe(one, records), ...(await draw(one)) })),
  );
  const control = new Gallery(exhibits, host);
  const { url, page, close } = await startGalleryServer({ control, host, port }).catch(
    ({ message }: Error) => {
      throw listenError('CANNOT_SERVE', { reason: message });
    },
  );
  if (flags.json) printJson({ event: 'listening', url, page });
  else writeStdout(`${page} shows ${all.length} scenarios; stop with Ctrl+C`);
  await aborted(signal);
  control.close();
  await close();
  end();
}

const MOST_LINKS = 300;

/** Returns the groups and a part of the links, evenly chosen. */
async function draw({ scenario, folder }: Loaded): Promise<Pick<Exhibit, 'groups' | 'links'>> {
  const { drawnGraph, listEdges } = await import('../../sim/world/graph.js');
  const { groupSizes } = await import('../../sim/scenario/population.js');
  const { loadData } = await import('../../sim/scenario/files.js');
  const { edges } = loadData(scenario, folder);
  const all = [...listEdges(drawnGraph(scenario, scenario.seed, edges))];
  const every = Math.max(1, all.length / MOST_LINKS);
  const links = Array.from({ length: Math.min(MOST_LINKS, all.length) }, (_, place) => {
    const { a, b } = all[Math.floor(place * every)]!;
    return [a, b];
  });
  return { groups: groupSizes(scenario), links };
}

/** Most runs at a time. A further one ends the oldest. */
const MOST_RUNS = 4;

const program = fileURLToPath(new URL('../main.js', import.meta.url));

class Gallery implements Control {
  readonly kind = 'gallery';
  readonly can = ['watch'] as const;
  readonly #exhibits: readonly Exhibit[];
  readonly #host: string;
  /** Running commands, oldest first. */
  readonly #runs = new Map<string, ChildProcess>();

  constructor(exhibits: readonly Omit<Exhibit, 'state'>[], host: string) {
    this.#exhibits = exhibits.map((one) => ({ ...one, state: 'idle' }));
    this.#host = host;
  }

  gallery = (mayStart: boolean): GalleryView => ({
    scenarios: this.#exhibits.map(({ page, ...one }) =>
      mayStart && page !== undefined ? { ...one, page } : one,
    ),
  });

  clock() {
    const at = new Date().toISOString();
    return { holds: 'nothing' as const, paused: false, speed: 1, until: null, at };
  }

  async do(command: ControlCommand): Promise<Refusal | null> {
    if (command.do !== 'watch') return null;
    const found = this.#exhibits.find(({ name }) => name === command.scenario);
    if (!found) {
      const { refuse } = await import('../../engine/protocol/schema/reason.js');
      return refuse('CONTROL_RUN_INVALID', { problem: 'unknown scenario' });
    }
    if (!this.#runs.has(found.name)) this.#start(found);
    return null;
  }

  onChange = () => () => {};

  close(): void {
    for (const run of this.#runs.values()) run.kill('SIGTERM');
  }

  #start(exhibit: Exhibit): void {
    const [oldest] = this.#runs.values();
    if (this.#runs.size >= MOST_RUNS) oldest?.kill('SIGTERM');
    const args = ['sim', exhibit.name, '--watch', '--port', '0', '--host', this.#host];
    const run = spawn(process.execPath, [...process.execArgv, program, ...args], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    this.#runs.set(exhibit.name, run);
    Object.assign(exhibit, { state: 'starting', page: undefined, why: undefined });
    let last = '';
    createInterface({ input: run.stderr }).on('line', (line) => {
      last = line;
      const page = /^folkmoot: (http\S+) shows the run/.exec(line)?.[1];
      if (page !== undefined) Object.assign(exhibit, { state: 'open', page });
    });
    const ended = (why: string) => {
      this.#runs.delete(exhibit.name);
      const failed = exhibit.page === undefined;
      Object.assign(exhibit, { state: failed ? 'failed' : 'idle', page: undefined });
      if (failed) exhibit.why = why.slice(0, 400);
    };
    run.on('error', ({ message }) => ended(message));
    run.on('close', () => ended(last));
  }
}
