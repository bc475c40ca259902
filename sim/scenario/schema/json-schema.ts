/** The scenario's schema as editors and validators want it: JSON Schema, draft 2020-12. */
import { Scenario } from './scenario.js';

type Tree = Record<string, unknown>;

/** The JSON Schema of scenario files, for editors: docs/scenario.schema.json. */
export function scenarioJsonSchema(): Record<string, unknown> {
  const { description: _, ...schema } = optionalWhereDefaulted(Scenario) as Tree;
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: 'urn:folkmoot:scenario',
    title: 'Folkmoot scenario',
    description: 'An experiment: who takes part, what goes wrong, what is measured',
    ...schema,
  };
}

/** The schema describes scenarios with everything filled in; a file may leave defaults out. */
function optionalWhereDefaulted(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(optionalWhereDefaulted);
  if (typeof schema !== 'object' || schema === null) return schema;
  const { required, default: standard, ...rest } = schema as Tree & { required?: string[] };
  const members = Object.entries(rest).map(([key, one]) => [key, optionalWhereDefaulted(one)]);
  const properties = (rest.properties ?? {}) as Record<string, Tree>;
  const needed = required?.filter((name) => properties[name]?.default === undefined) ?? [];
  return {
    ...Object.fromEntries(members),
    ...(needed.length === 0 ? {} : { required: needed }),
    ...(standard === undefined ? {} : { default: standard }),
  };
}
