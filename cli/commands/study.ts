import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import type { Change } from '../../sim/index.js';
import type { AuditReport } from '../../sim/study/audit.js';
import type { PlannedEffect, StudyPlan } from '../../sim/study/plan.js';
import type { ReportedEffect, StudyReport } from '../../sim/study/report.js';
import type { Plan } from '../../sim/sweep/plan.js';
import { omitAbsent } from '../options/client.js';
import { CliCommand, integer } from '../options/options.js';
import {
  type DeciderFlags,
  deciderOptions,
  readDeciderFlags,
  setOption,
} from '../options/scenario.js';
import { interruption, UsageError } from '../output/exit.js';
import { setExitCode } from '../output/io.js';
import { escapeControls, printJson, writeStderr, writeStdout } from '../output/output.js';
import { build } from '../output/provenance.js';

interface PlanFlags {
  set?: Change[];
  json?: boolean;
}

interface RegisterFlags extends PlanFlags {
  out?: string;
  beacon?: boolean;
}

export function studyCommand(): CliCommand {
  const study = new CliCommand('study')
    .description('plan, register, report and audit the study of a sweep')
    .notes(`
A study is a sweep whose section sweep.study states the effects to show. See
docs/studies.md.`)
    .examples('study plan debate.yaml', 'study register debate.yaml', 'study report sweep-debate');
  addPlan(study);
  addRegister(study);
  addReport(study);
  addAudit(study);
  return study;
}

function addPlan(study: CliCommand): void {
  study
    .command('plan')
    .description('print the runs that the effects need, and the cost')
    .argument('<file>', 'scenario file or name; it needs a section sweep.study')
    .addOption(setOption())
    .option('--json', 'print one JSON object')
    .notes(`
Runs nothing. For each effect with stated rates, prints the runs that each arm
needs at the error and power of the study, for one effect and for all effects
with Holm's correction, and the smallest difference that the planned runs show.
Calls, tokens and money are those of all runs without retries.`)
    .examples(
      'study plan debate.yaml',
      'study plan debate.yaml --set sweep.replicates=212',
      'study plan debate.yaml --json | jq .effects',
    )
    .action(plan);
}

function addRegister(study: CliCommand): void {
  study
    .command('register')
    .description('write hashes of scenario, prompts, models, seeds, analysis')
    .argument('<file>', 'scenario file or name; it needs a section sweep.study')
    .addOption(setOption())
    .option('--out <file>', 'file to write (default: NAME.registration.json)')
    .option('--beacon', 'derive the seed later, from a public random value')
    .option('--json', 'print one JSON object')
    .notes(`
folkmoot sweep --registered FILE then refuses to run if a part has changed, and
names the registration in sweep.json and in its report. With --beacon, the sweep
also needs --beacon VALUE, which determines the seed.`)
    .examples(
      'study register debate.yaml',
      'study register debate.yaml --beacon --out registered.json',
      'sweep debate.yaml --registered debate.registration.json',
    )
    .action(register);
}

function addReport(study: CliCommand): void {
  study
    .command('report')
    .description('print the effects that the runs so far show')
    .argument('<dir>', 'folder of a sweep, finished or not')
    .option('--json', 'print one JSON object')
    .notes(`
Rates have 95 % intervals (Wilson), and bounds if outcomes are missing. Effects
are differences of pairs with the same seed, with McNemar's exact test. Runs
with the same question (sweep.study.cluster) count as one. p is adjusted for all
effects (Holm). Also prints the difference that these runs could have shown.`)
    .examples(
      'study report sweep-debate',
      'study report sweeps/debate --json | jq .effects',
      'study report sweeps/debate --json | jq .spent',
    )
    .action(report);
}

function addAudit(study: CliCommand): void {
  study
    .command('audit')
    .description('repeat a study with other wording, on the same seeds')
    .argument('<file>', 'scenario file or name; it needs a section deliberation')
    .addOption(setOption())
    .option('--out <dir>', 'folder to write or to continue (default: audit-NAME)')
    .option('--replicates <n>', 'runs per cell and wording', integer(2, 100_000))
    .option('--jobs <n>', 'parallel runs', integer(1, 256), availableParallelism())
    .option('--probe', 'ask the agents for their view of the experiment')
    .addOptions(deciderOptions())
    .option('--json', 'print one JSON object')
    .notes(`
Runs the sweep of the scenario, and a twin for each change of wording: the order
of options, their labels, the format of the persona, a paraphrase of the task,
and the warning of faulty agents. A wording that the sweep varies has no twin.
Compares the responses of the sweep and reported.first_option in pairs with the
same seed (randomization test, Holm's correction). A conclusion of sweep.study
survives if each twin shows it in the same direction.

Without a sweep, runs the scenario 20 times per wording. The same command
continues an interrupted audit. --probe adds one run, in which each agent states
what it takes the experiment to be about.`)
    .examples(
      'study audit jury --replicates 30 --out audits/jury',
      'study audit debate.yaml --record --cache answers --probe',
      'study audit debate.yaml --json | jq .comparisons',
    )
    .action(audit);
}

async function plan(file: string, { set, json }: PlanFlags): Promise<void> {
  const { planSweep } = await import('../../sim/sweep/plan.js');
  const { planStudy } = await import('../../sim/study/plan.js');
  const planned = planStudy(planSweep(file, set ? { set } : {}));
  if (json) return printJson(planned);
  writeStdout(...planLines(planned));
}

function planLines({ cells, runs, error, power, effects, cost }: StudyPlan): string[] {
  const { calls, tokens, money, unpriced } = cost;
  const amounts = [
    `${count(calls)} calls`,
    `${count(tokens)} tokens`,
    `money ${money === null ? 'unknown' : money.toFixed(2)}`,
  ];
  return [
    `${cells} cells, ${runs} runs; error ${error} over ${effects.length} effects, power ${power}`,
    `cost without retries: ${amounts.join(', ')}`,
    ...(unpriced.length > 0 ? [`models without a price: ${unpriced.join(', ')}`] : []),
    ...effects.flatMap(effectPlanLines),
  ];
}

const count = (value: number | null): string =>
  value === null ? 'unknown' : value.toLocaleString('en-US');

function effectPlanLines(effect: PlannedEffect): string[] {
  const { name, runs, rates, needed, needed_holm } = effect;
  const enough = needed_holm === null ? '' : runs >= needed_holm ? '; enough' : '; too few';
  const wanted = rates
    ? [
        `  ${rates.join(' against ')}: needs ${needed ?? 'unknown'} runs an arm, ` +
          `${needed_holm ?? 'unknown'} with all effects`,
      ]
    : [];
  return [name, ...wanted, `  planned: ${runs} runs an arm${enough}; shows ${shownBy(effect)}`];
}

function shownBy({ detectable: { up, down } }: Pick<PlannedEffect, 'detectable'>): string {
  const sides = [up === null ? [] : [`+${digits(up)}`], down === null ? [] : [`-${digits(down)}`]];
  return sides.flat().length === 0
    ? 'no difference'
    : `a difference of ${sides.flat().join(' or ')}`;
}

const digits = (value: number | null): string => (value === null ? 'unknown' : value.toFixed(4));

async function register(file: string, flags: RegisterFlags): Promise<void> {
  const { parse } = await import('node:path');
  const { planSweep } = await import('../../sim/sweep/plan.js');
  const { registerStudy } = await import('../../sim/study/registration.js');
  const { set, json, beacon = false } = flags;
  const registration = registerStudy(planSweep(file, set ? { set } : {}), beacon);
  const out = flags.out ?? `${parse(file).name}.registration.json`;
  if (existsSync(out)) throw new UsageError('FILE_EXISTS', { path: out });
  writeFileSync(out, `${JSON.stringify(registration, null, 2)}\n`);
  if (json) return printJson(registration);
  writeStdout(`sha256 ${registration.sha256}`);
  writeStderr(`saved in ${out}; run: folkmoot sweep ${file} --registered ${out}`);
}

async function report(folder: string, { json }: PlanFlags): Promise<void> {
  const { reportStudy } = await import('../../sim/study/report.js');
  const found = reportStudy(folder);
  if (json) return printJson(found);
  writeStdout(...reportLines(found));
}

function reportLines({ planned, completed, registered, effects, spent, error }: StudyReport) {
  const by = registered === null ? 'not registered' : `registered: ${registered}`;
  return [
    `${completed} of ${planned} runs completed; ${by}`,
    `spent: ${count(spent.tokens)} tokens, money ${spent.money.toFixed(2)}`,
    ...effects.flatMap((effect) => effectLines(effect, error)),
  ];
}

function effectLines(effect: ReportedEffect, error: number): string[] {
  const { arms, pairs, higher, lower, difference, low, high, p, p_holm, shown } = effect;
  const rates = arms.map((arm) => {
    const gap =
      arm.missing === 0
        ? ''
        : `; ${arm.missing} missing: ${interval(arm.mean_least, arm.mean_most)}`;
    return `  ${digits(arm.mean)} ${interval(arm.low, arm.high)}, ${arm.n} runs${gap}`;
  });
  const verdict = shown ? 'shown' : `not shown; ${shownBy(effect)} could have been`;
  return [
    effect.name,
    ...rates,
    `  difference ${digits(difference)} ${interval(low, high)}, ${pairs} pairs: ` +
      `${higher} higher, ${lower} lower`,
    `  p ${p.toPrecision(3)}, with all effects ${p_holm.toPrecision(3)}: ${verdict} at ${error}`,
  ];
}

const interval = (low: number | null, high: number | null): string =>
  low === null || high === null ? '(no interval)' : `(${digits(low)} to ${digits(high)})`;

interface AuditFlags extends DeciderFlags {
  set?: Change[];
  out?: string;
  replicates?: number;
  jobs: number;
  probe?: boolean;
  json?: boolean;
}

async function audit(file: string, flags: AuditFlags): Promise<void> {
  const { parse } = await import('node:path');
  const { armFolder, planAudit, reportAudit } = await import('../../sim/study/audit.js');
  const { set, replicates, probe } = flags;
  const plans = planAudit(file, omitAbsent({ set, replicates }));
  const out = flags.out ?? `audit-${parse(file).name}`;
  const arms = [
    { name: 'base', plan: plans.base },
    ...plans.twins.map(({ twin, plan }) => ({ name: twin.name, plan })),
  ];
  const { runs } = plans.base;
  writeStderr(
    `folkmoot study audit ${file}: ${arms.length} wordings, ${runs} runs each, in ${out}`,
  );
  mkdirSync(out, { recursive: true });
  for (const { name, plan } of arms) {
    if (!(await runArm(armFolder(out, name), plan, { ...flags, out }))) return;
  }
  const report = reportAudit(out, plans);
  const beliefs = probe ? await runProbe(plans.base, { ...flags, out }) : null;
  if (flags.json) return printJson({ out, ...report, ...(beliefs ? { beliefs } : {}) });
  writeStdout(...auditLines(report), ...(beliefs ?? []).map(beliefLine));
}

type AuditIn = AuditFlags & { out: string };

/** Runs a twin or continues it. Returns false if it was interrupted or failed. */
async function runArm(folder: string, plan: Plan, flags: AuditIn): Promise<boolean> {
  const { join } = await import('node:path');
  const { sweep } = await import('../../sim/sweep/sweep.js');
  const { SPENDING_FILE } = await import('../../sim/agents/deciders/ledger.js');
  const interrupt = interruption();
  const deciders = { ...readDeciderFlags(flags), spending: join(flags.out, SPENDING_FILE) };
  const how = { jobs: flags.jobs, signal: interrupt.signal, deciders };
  const result = await sweep(plan, { out: folder, made: build(), resume: true, ...how });
  if (result.failed) {
    const { kind, message } = result.failed;
    const { failureKinds } = await import('./sweep.js');
    writeStderr(`folkmoot: a run in ${folder} failed (${kind}): ${message}`);
    setExitCode(failureKinds[kind].code);
    return false;
  }
  if (!result.finished) {
    writeStderr('interrupted; continue with the same command');
    interrupt.end();
  }
  return result.finished;
}

interface Belief {
  agent: string;
  group: string;
  /** Untrusted text of the agent. */
  belief: string;
}

async function runProbe(plan: Plan, flags: AuditIn): Promise<Belief[]> {
  const { join } = await import('node:path');
  const { probeScenario } = await import('../../sim/study/audit.js');
  const { simulate } = await import('../../sim/run/simulate.js');
  const { tableRows } = await import('../../report/folder.js');
  const out = join(flags.out, 'probe');
  if (!existsSync(join(out, 'summary.json'))) {
    const options = { out, folder: plan.folder, deciders: readDeciderFlags(flags) };
    await simulate(probeScenario(plan), options, { made: build() });
  }
  const beliefs: Belief[] = [];
  for await (const { agent = '', group = '', value = '' } of tableRows(out, 'statements.csv')) {
    beliefs.push({ agent, group, belief: value });
  }
  return beliefs;
}

const beliefLine = ({ agent, group, belief }: Belief): string =>
  `agent ${agent} (${group}) takes it to be about: ${escapeControls(belief)}`;

function auditLines({ error, comparisons, effects }: AuditReport): string[] {
  const flagged = comparisons.filter((one) => one.flagged);
  const count = `${flagged.length} of ${comparisons.length} comparisons`;
  return [
    `wording changes a response in ${count}, at a familywise error of ${error}`,
    ...comparisons
      .filter((one) => one.flagged || one.difference !== 0)
      .map(({ twin, response, difference, low, high, p_holm, flagged: isFlagged }) => {
        const mark = isFlagged ? 'changed' : 'not clear';
        const size = `${digits(difference)} ${interval(low, high)}`;
        return `  ${twin}: ${response} ${size}, p ${p_holm.toPrecision(3)}: ${mark}`;
      }),
    ...effects.map(({ name, shown, survives, lost_in }) => {
      if (!shown) return `${name}: not shown by the study`;
      return survives ? `${name}: survives` : `${name}: lost with other ${lost_in.join(', ')}`;
    }),
  ];
}
