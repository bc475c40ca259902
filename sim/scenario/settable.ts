/** What of a scenario an intervention may set while a run goes on: nothing that genesis fixes. */
import type { TSchema } from '../../engine/internal.js';
import { schemaAt } from './schema/describe.js';
import { Scenario } from './schema/scenario.js';

/** Whole sections, and single members. */
const sections = ['producers', 'social', 'links.loss', 'links.duplication'];
/** Members that mean something together only. */
const together = ['producers.transactions'];

const found = new Map(sections.flatMap((path) => leaves(path)));

function leaves(path: string): [string, TSchema][] {
  const schema = schemaAt(Scenario, path.split('.'))!;
  const { properties } = schema as { properties?: Record<string, unknown> };
  if (!properties || together.includes(path)) return [[path, schema]];
  return Object.keys(properties).flatMap((name) => leaves(`${path}.${name}`));
}

/** The schema of a value that may be set, by its path. */
export const settable = (path: string): TSchema | undefined => found.get(path);

/** All paths. */
export const settablePaths = (): string[] => [...found.keys()];
