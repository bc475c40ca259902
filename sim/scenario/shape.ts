/** Validates a value against the scenario schema and reports the first problem with its path. */
import { type TSchema, Value } from '../../engine/protocol/bundled/typebox.js';
import { type Finding, finding, invalid, type Problem } from './problem.js';
import { describeAllowed, findSchema } from './schema/common.js';
import { Condition, Intervention } from './schema/interventions.js';
import { Fault } from './schema/network.js';
import { Scenario } from './schema/scenario.js';
import { Strategy } from './schema/strategies.js';

/** Finds the first problem of a value at a path. */
export function findSchemaProblem(
  schema: TSchema,
  value: unknown,
  above: string[] = [],
): Problem | null {
  if (Value.Check(schema, value)) return null;
  const [error] = Value.Errors(schema, value);
  const { instancePath = '', params = {} } = error ?? {};
  const [missing] = (params as { requiredProperties?: string[] }).requiredProperties ?? [];
  const steps = instancePath.split('/').slice(1);
  const inside = steps.map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  if (missing !== undefined) inside.push(missing);
  return { path: [...above, ...inside], ...findingOf(schema, value, inside) };
}

export function findShapeProblem(value: unknown): Problem | null {
  return (
    findVariantProblem(value) ?? findUntilProblem(value) ?? findSchemaProblem(Scenario, value, [])
  );
}

interface Bounded extends TSchema {
  type?: string;
  anyOf?: Bounded[];
  items?: Bounded;
  properties?: Record<string, Bounded>;
  additionalProperties?: unknown;
  maxItems?: number;
}

/** Limits on the whole scenario. The schema does not bound free-form members such as parameters. */
const MOST_VALUES = 200_000;
const MOST_LEVELS = 64;

/**
 * Finds the first list or object with more items than the schema allows, or a scenario that is too
 * large or too deep. The search stops at the limits, so the schema bounds all later work. Without
 * limits, the library would visit every item, and many times for a union.
 */
export function findExcessProblem(value: unknown): Problem | null {
  return excessIn(Scenario as Bounded, value, []) ?? findSizeProblem(value);
}

function excessIn(schema: Bounded, value: unknown, path: string[]): Problem | null {
  if (typeof value !== 'object' || value === null) return null;
  const { anyOf, items, properties, additionalProperties, maxItems } = schema;
  if (anyOf) {
    const fitting = anyOf.filter((one) => isOfKind(one, value));
    return fitting.length === 1 ? excessIn(fitting[0]!, value, path) : null;
  }
  const isList = Array.isArray(value);
  if (isList && value.length > (maxItems ?? Number.POSITIVE_INFINITY)) {
    const values = { count: value.length, expected: describeAllowed(schema) };
    return { path, ...finding('TOO_MANY_ITEMS', values) };
  }
  if (isList ? !items : !properties) return null;
  for (const name of Object.keys(value)) {
    const inner = isList ? items : ownSchema(properties!, name);
    if (!inner) {
      if (additionalProperties !== false) continue;
      return { path: [...path, name], ...unknownKey(schema) };
    }
    const found = excessIn(inner, (value as Record<string, unknown>)[name], [...path, name]);
    if (found) return found;
  }
  return null;
}

/** Returns a member's schema. Ignores inherited names such as `constructor`. */
function ownSchema(properties: Record<string, Bounded>, name: string): Bounded | undefined {
  return Object.hasOwn(properties, name) ? properties[name] : undefined;
}

/** Checks the size limits. An aliased value counts once per alias. */
export function findSizeProblem(value: unknown): Problem | null {
  let left = MOST_VALUES;
  const pathToDeep = (at: unknown, levels: number): string[] | null => {
    left -= 1;
    if (left < 0 || typeof at !== 'object' || at === null) return null;
    if (levels === MOST_LEVELS) return [];
    for (const name of Object.keys(at)) {
      const deep = pathToDeep((at as Record<string, unknown>)[name], levels + 1);
      if (deep) return [name, ...deep];
      if (left < 0) return null;
    }
    return null;
  };
  const deep = pathToDeep(value, 0);
  if (left < 0) return { path: [], ...finding('TOO_MANY_VALUES', { limit: MOST_VALUES }) };
  if (!deep) return null;
  return { path: deep.slice(0, SHOWN_STEPS), ...finding('TOO_DEEP', { limit: MOST_LEVELS }) };
}

function unknownKey(schema: TSchema): Finding {
  const { properties } = schema as Bounded;
  const keys = properties && `one of ${Object.keys(properties).join(', ')}`;
  return finding('UNKNOWN_KEY', { expected: keys ?? describeAllowed(schema) });
}

/** Length of the reported path to a value that is too deeply nested. */
const SHOWN_STEPS = 5;

/** Returns true if the schema suits the value: lists match lists, and objects match their kind. */
function isOfKind({ items, properties, type }: Bounded, value: object): boolean {
  if (Array.isArray(value)) return items !== undefined || type === 'array';
  const kind = (properties?.kind as { const?: unknown } | undefined)?.const;
  const own = Object.hasOwn(value, 'kind') ? (value as { kind: unknown }).kind : undefined;
  return properties !== undefined && (kind === undefined || kind === own);
}

/** Checks each member that has a kind against the schema for that kind. */
function findVariantProblem(value: unknown): Problem | null {
  for (const { union, value: one, path } of variantsIn(value)) {
    const problem = findKindProblem(union, one, path);
    if (problem) return problem;
  }
  return null;
}

/** Checks each condition separately, so that the problem names the invalid condition. */
function findUntilProblem(value: unknown): Problem | null {
  const until = valueAt(value, ['length', 'until']);
  const each: [unknown, string[]][] = Array.isArray(until)
    ? until.map((one, index) => [one, ['length', 'until', String(index)]])
    : [[until, ['length', 'until']]];
  for (const [one, path] of each) {
    if (typeof one !== 'object' || one === null) continue;
    const problem = findSchemaProblem(Condition, one, path);
    if (problem) return problem;
  }
  return null;
}

/**
 * Fills in all defaults, in place. A member that has a kind gets the defaults for that kind, even
 * if the member is invalid in other ways. The library would try every kind, each on a copy of the
 * member.
 */
export function fillDefaults(value: unknown): unknown {
  const variants = variantsIn(value).filter((variant) => variant.value !== undefined);
  for (const { path } of variants) replaceAt(value, path, null);
  const filled = Value.Default(Scenario, value);
  // In reverse order, an intervention comes before the strategy that it contains.
  for (const { union, value: one, path } of variants.reverse()) {
    replaceAt(filled, path, one);
    const variant = variantOf(union, one);
    if (variant) Value.Default(variant, one);
  }
  return filled;
}

function replaceAt(value: unknown, path: readonly string[], inner: unknown): void {
  (valueAt(value, path.slice(0, -1)) as Record<string, unknown>)[path.at(-1)!] = inner;
}

function variantsIn(value: unknown) {
  const { agents, faults, interventions } = (value ?? {}) as Record<string, unknown>;
  const strategies = list(agents).map((group, index) => ({
    union: Strategy as Union,
    value: (group as Record<string, unknown> | null)?.strategy,
    path: ['agents', String(index), 'strategy'],
  }));
  const wrongs = list(faults).map((fault, index) => ({
    union: Fault as Union,
    value: fault,
    path: ['faults', String(index)],
  }));
  const changes = list(interventions).flatMap((one, index) => {
    const path = ['interventions', String(index)];
    const { kind, strategy } = (one ?? {}) as Record<string, unknown>;
    const inner = { union: Strategy as Union, value: strategy, path: [...path, 'strategy'] };
    const outer = { union: Intervention as Union, value: one, path };
    return kind === 'strategy' ? [inner, outer] : [outer];
  });
  return [...strategies, ...wrongs, ...changes];
}

interface Union extends TSchema {
  anyOf: (TSchema & { properties: { kind: { const: string } } })[];
}

function findKindProblem(union: Union, value: unknown, path: string[]): Problem | null {
  if (typeof value !== 'object' || value === null) return null;
  const variant = variantOf(union, value);
  if (variant) return findSchemaProblem(variant, value, path);
  const { kind } = value as { kind?: unknown };
  const expected = `one of ${union.anyOf.map((one) => one.properties.kind.const).join(', ')}`;
  const found =
    kind === undefined ? finding('MISSING', { expected }) : invalid(formatValue(kind), expected);
  return { path: [...path, 'kind'], ...found };
}

function variantOf(union: Union, value: unknown) {
  const kind = (value as { kind?: unknown } | null | undefined)?.kind;
  return union.anyOf.find((one) => one.properties.kind.const === kind);
}

const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

function findingOf(schema: TSchema, value: unknown, path: string[]): Finding {
  const found = valueAt(value, path);
  const here = findSchema(schema, path);
  const parent = findSchema(schema, path.slice(0, -1));
  if (!here) return unknownKey(parent ?? schema);
  if (found === undefined) return finding('MISSING', { expected: describeAllowed(here) });
  return invalid(formatValue(found), describeAllowed(here));
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  let at = value;
  for (const step of path) at = (at as Record<string, unknown> | null | undefined)?.[step];
  return at;
}

/** Formats a value for an error, in at most 60 characters. */
export function formatValue(value: unknown): string {
  const text = typeof value === 'number' ? String(value) : (JSON.stringify(value) ?? 'missing');
  return text.length <= 60 ? text : `${text.slice(0, 57)}...`;
}
