/**
 * The order of test files: those that take a minute or more begin first. On a machine that has not
 * run them before, vitest would begin with the largest files, and the last one run on alone.
 */
import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Files of slow tests that take minutes, the longest first; under test/, without the end that tells
 * of their project. The gate leaves them to `npm run test:slow`.
 */
export const longest = [
  'api/fronts/conformance',
  'sim/scripts/studies',
  'ui/exported/shown',
  'sim/why/ablation',
  'sim/sweep/growth',
  'ui/views/journey',
  'sim/deciders/mcp/programs',
  'cluster/peer/snapshot',
  'sim/sweep/shards/merge',
  'ui/load/load',
  'sim/sweep/queue/queue',
  'sim/deciders/programs',
  'ui/journeys/keys',
  'sim/sweep/tables',
  'ui/views/agent',
  'sim/sweep/queue/carried',
];

/** Files that begin first: they take a minute or more. */
const first = [...longest, 'cluster/serve', 'sim/sweep/sweep', 'cluster/faults', 'ui/access'];

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const path = relative(`${this.ctx.config.root}/test`, moduleId);
      const place = first.indexOf(path.replace(/(?:\.slow)?\.test\.ts$/, ''));
      return place < 0 ? first.length : place;
    };
    const sorted = await super.sort(files);
    const projects = [...new Set(sorted.map(({ project }) => project))];
    const order = ({ project }: TestSpecification) => projects.indexOf(project);
    // Stable: all others stay as they were.
    return sorted.sort((a, b) => order(a) - order(b) || rank(a) - rank(b));
  }
}
