/** What scripts of a run measured themselves, by the figures that the run left. */
import type { World } from '../agents/port/world.js';
import type { Reported, ScriptReportBlock, Scripts } from '../agents/script/index.js';
import { type Finished, measures, type Row, sweepTables } from '../measure/index.js';

/** Measures and columns that a measure of a script's own would stand beside. */
const taken: ReadonlySet<string> = new Set(
  [measures, ...Object.values(sweepTables)].flatMap((names) => Object.keys(names)),
);

const nothing = (): Reported => ({ run: {}, groups: {} });

/** @throws {ScenarioError} when a script throws, or gives what is no measure. */
export function reportedOf(scripts: Scripts | null, world: World, finished: Finished): Reported {
  if (!scripts?.reports) return nothing();
  // Rows are made as they are taken: they are taken twice here.
  const rows = [...finished.tables['blocks.csv']];
  finished.tables['blocks.csv'] = rows;
  const { population } = world.scenario;
  const ordinals = new Map(
    Array.from({ length: population }, (_, agent) => [world.agentId(agent), agent]),
  );
  const blocks = rows.map((row) => blockOf(row, ordinals));
  return scripts.report({ world, blocks: Object.freeze(blocks) }, taken);
}

function blockOf(row: Row<'blocks.csv'>, ordinals: ReadonlyMap<string, number>): ScriptReportBlock {
  return Object.freeze({
    number: Number(row.number),
    hash: String(row.block_hash),
    producer: ordinals.get(String(row.producer)) ?? -1,
    status: row.status as ScriptReportBlock['status'],
    soundness: row.soundness as number | null,
    warmup: row.warmup === 1,
    proposedMs: Number(row.proposed_ms),
    closedMs: row.closed_ms as number | null,
    votes: Number(row.votes),
    approve: Number(row.approve),
    reject: Number(row.reject),
    electorate: Number(row.electorate),
  });
}
