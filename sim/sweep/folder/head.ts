/** sweep.json: what a sweep is, and whether another one is the same with more of something. */
import type { Provenance } from '../../../report/provenance.js';
import { jsonDifference } from '../../compare/index.js';
import type { Factor, Sweep } from '../../scenario/schema/sweep.js';
import type { Plan } from '../plan.js';
import { type Shard, shardText } from '../shard.js';

/** Of the files in the folder; a build that keeps them otherwise takes another number. */
export const FORMAT = 2;

export type SweepHead = Provenance &
  Pick<Plan, 'cells' | 'runs' | 'modules' | 'scenario'> & {
    format: number;
    /** Of a shard; its keys are those of all cells, so that it can be merged without its files. */
    shard?: Shard & Pick<Plan, 'keys'>;
  };

export type ShardHead = Required<SweepHead>;

export function headOf(plan: Plan, made: Provenance, shard?: Shard): SweepHead {
  const { version, commit, node } = made;
  const { cells, runs, modules, scenario, keys } = plan;
  const whole = { format: FORMAT, version, commit, node, cells, runs, modules, scenario };
  return shard ? { ...whole, shard: { ...shard, keys } } : whole;
}

export const headText = (head: SweepHead): string => `${JSON.stringify(head, null, 2)}\n`;

/** Null when the runs of the one belong to the other too; else in words what parts them. */
export function partedBy(there: unknown, now: SweepHead): string | null {
  const old = there as Partial<SweepHead> | null;
  if (old?.format !== FORMAT) {
    return (
      'it is of another build, whose files have other names: its tables stay as they are; ' +
      'expected a new folder'
    );
  }
  const [a, b] = [old as SweepHead, now];
  const found = jsonDifference(fixed(a, b), fixed(b, b));
  if (found) return `${found.path} is ${found.a} there and ${found.b} now`;
  return lessOf(a.scenario.sweep!, b.scenario.sweep!);
}

/** What may not differ. Values may be more, where cells do not follow from all of them. */
function fixed({ version, commit, node, modules, scenario, shard }: SweepHead, now: SweepHead) {
  const { sweep, ...base } = scenario;
  const { design, levels, factors } = sweep!;
  const known = Object.keys(modules).filter((name) => name in now.modules);
  return {
    version,
    commit,
    node,
    shard: shard ? shardText(shard) : 'none',
    modules: Object.fromEntries(known.map((name) => [name, modules[name]])),
    scenario: {
      ...base,
      sweep: { design, levels: levels ?? null, factors: factors.map((one) => ranged(one, design)) },
    },
  };
}

const ranged = ({ values, ...factor }: Factor, design: Sweep['design']) =>
  design === 'grid' || design === 'list' ? factor : { ...factor, values: values ?? null };

/** Runs are added, never taken away. */
function lessOf(there: Sweep, now: Sweep): string | null {
  const counted = (name: string, a: number, b: number) =>
    b < a ? `sweep.${name} is ${a} there and ${b} now; expected as many or more` : null;
  return (
    counted('replicates', there.replicates, now.replicates) ??
    samplesProblem(there.samples ?? 0, now) ??
    there.factors.map((factor, index) => valuesProblem(factor, now, index)).find(Boolean) ??
    null
  );
}

function samplesProblem(there: number, { design, samples = 0 }: Sweep): string | null {
  if (samples === there) return null;
  const what = `sweep.samples is ${there} there and ${samples} now`;
  if (design === 'lhs') {
    return (
      `${what}: each sample of a Latin hypercube has its stratum of all ${there}, so no more can ` +
      'be added; expected more replicates, or the design sobol, which grows'
    );
  }
  return samples < there ? `${what}; expected as many or more` : null;
}

function valuesProblem(
  { path, values: there = [] }: Factor,
  { design, factors }: Sweep,
  at: number,
) {
  const now = factors[at]!.values ?? [];
  if (design !== 'grid' && design !== 'list') return null;
  const lost =
    design === 'grid'
      ? there.find((value) => !now.includes(value))
      : there.find((value, index) => now[index] !== value);
  if (lost === undefined) return null;
  const how = design === 'grid' ? 'values may be added' : 'values may be added at the end';
  return `sweep.factors.${at} (${path}) has ${JSON.stringify(lost)} there and not now; ${how}`;
}
