/** Validates a value against the scenario schema and reports problems with their paths. */
import { type TSchema, Value } from '../../engine/protocol/bundled/typebox.js';
import { nearest } from '../../engine/protocol/text.js';
import { finding, invalid, type Problem } from './problem.js';
import { describeAllowed, memberOf, type PlainSchema } from './schema/common.js';
import { Intervention } from './schema/interventions.js';
import { Fault } from './schema/network.js';
import { Scenario } from './schema/scenario.js';
import { Strategy } from './schema/strategies.js';

/** Number of problems that one error reports. */
export const MOST_PROBLEMS = 20;

/** Number of unknown keys of one object that are reported. More have probably one cause. */
const MOST_UNKNOWN = 5;

/** Finds the problems of a value at a path, at most 20. */
export function findSchemaProblems(
  schema: TSchema,
  value: unknown,
  above: string[] = [],
): Problem[] {
  if (Value.Check(schema, value)) return [];
  const problems: Problem[] = [];
  for (const problem of problemsIn({ schema, value, path: above }, schema)) {
    problems.push(problem);
    if (problems.length === MOST_PROBLEMS) break;
  }
  return problems;
}

export const findShapeProblems = (value: unknown): Problem[] => findSchemaProblems(Scenario, value);

interface Place {
  schema: PlainSchema;
  value: unknown;
  path: string[];
}

/** Yields the problems of an invalid value, those of its members first. */
function* problemsIn(place: Place, root: PlainSchema): Generator<Problem, void> {
  const { schema, value, path } = place;
  const { anyOf, items, properties } = schema;
  const isObject = typeof value === 'object' && value !== null;
  const fitting = isObject ? (anyOf ?? []).filter((one) => isOfKind(one, value)) : [];
  if (fitting.length === 1) {
    yield* problemsIn({ ...place, schema: fitting[0]! }, root);
    return;
  }
  // Formats the value only if nothing inside it is at fault, because it can be large.
  const own = () => ({ path, ...invalid(formatValue(value), expectedOf(schema)) });
  if (!isObject) yield own();
  else if (anyOf) yield findKindProblem(anyOf, value, path) ?? own();
  else {
    let found = false;
    const isList = Array.isArray(value);
    const inside = isList ? items && itemsOf(place) : properties && membersOf(place, root);
    for (const inner of inside ?? []) {
      found = true;
      if ('code' in inner) yield inner;
      else yield* problemsIn(inner, root);
    }
    if (!found) yield own();
  }
}

/** Yields the invalid items of a list. */
function* itemsOf({ schema, value, path }: Place): Generator<Place> {
  for (const [index, item] of (value as unknown[]).entries()) {
    if (Value.Check(schema.items!, item)) continue;
    yield { schema: schema.items!, value: item, path: [...path, String(index)] };
  }
}

/** Yields the invalid members of an object, and the problems of unknown and missing members. */
function* membersOf({ schema, value, path }: Place, root: PlainSchema): Generator<Place | Problem> {
  const { properties = {}, required = [], additionalProperties } = schema;
  const members = value as Record<string, unknown>;
  let unknown = 0;
  for (const name of Object.keys(members)) {
    const inner = memberOf(schema, name);
    const at = [...path, name];
    if (inner && members[name] !== undefined && !Value.Check(inner, members[name])) {
      yield { schema: inner, value: members[name], path: at };
    }
    if (inner || additionalProperties !== false) continue;
    unknown += 1;
    if (unknown > MOST_UNKNOWN) continue;
    const keys = unknown === 1 ? Object.keys(properties).join(', ') : 'the keys above';
    const near = nearest(name, Object.keys(properties)) ?? findPath(root, name);
    const advice = near === null ? '' : `; did you mean ${near}?`;
    yield { path: at, ...finding('UNKNOWN_KEY', { expected: `one of ${keys}${advice}` }) };
  }
  for (const name of required) {
    if (Object.hasOwn(members, name) && members[name] !== undefined) continue;
    const expected = expectedOf(properties[name]!);
    yield { path: [...path, name], ...finding('MISSING', { expected }) };
  }
}

/** Returns the path of a section's member with this name, such as `length.blocks`, or null. */
function findPath({ properties = {} }: PlainSchema, name: string): string | null {
  const sections = Object.entries(properties).filter(([, one]) => one.properties !== undefined);
  const section = sections.find(([, one]) => memberOf(one, name));
  return section === undefined ? null : `${section[0]}.${name}`;
}

/** Describes allowed values, with an example if the schema has one. */
function expectedOf(schema: PlainSchema): string {
  const [example] = schema.examples ?? [];
  const allowed = describeAllowed(schema);
  return example === undefined ? allowed : `${allowed}, such as ${JSON.stringify(example)}`;
}

/** Limits on the whole scenario. The schema does not bound free-form members such as parameters. */
const MOST_VALUES = 200_000;
const MOST_LEVELS = 64;

/**
 * Finds the first list with more items than the schema allows, or a scenario that is too large or
 * too deep. The search stops at the limits, so the schema bounds all later work. Without
 * limits, the library would visit every item, and many times for a union.
 */
export function findExcessProblem(value: unknown): Problem | null {
  // Nothing visits the value of an unknown key, which is reported as such.
  const isMap = typeof value === 'object' && value !== null && !Array.isArray(value);
  const known = ([name]: [string, unknown]) => Object.hasOwn(Scenario.properties, name);
  const visited = isMap ? Object.fromEntries(Object.entries(value).filter(known)) : value;
  return excessIn(Scenario as PlainSchema, value, []) ?? findSizeProblem(visited);
}

function excessIn(schema: PlainSchema, value: unknown, path: string[]): Problem | null {
  if (typeof value !== 'object' || value === null) return null;
  const { anyOf, items, properties, maxItems } = schema;
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
    const inner = isList ? items : memberOf(schema, name);
    if (!inner) continue;
    const found = excessIn(inner, (value as Record<string, unknown>)[name], [...path, name]);
    if (found) return found;
  }
  return null;
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

/** Length of the reported path to a value that is too deeply nested. */
const SHOWN_STEPS = 5;

/** Returns true if the schema suits the value: lists match lists, and objects match their kind. */
function isOfKind({ items, properties, type }: PlainSchema, value: object): boolean {
  if (Array.isArray(value)) return items !== undefined || type === 'array';
  const kind = properties?.kind?.const;
  const own = Object.hasOwn(value, 'kind') ? (value as { kind: unknown }).kind : undefined;
  return properties !== undefined && (kind === undefined || kind === own);
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
    union: Strategy as PlainSchema,
    value: (group as Record<string, unknown> | null)?.strategy,
    path: ['agents', String(index), 'strategy'],
  }));
  const wrongs = list(faults).map((fault, index) => ({
    union: Fault as PlainSchema,
    value: fault,
    path: ['faults', String(index)],
  }));
  const changes = list(interventions).flatMap((one, index) => {
    const path = ['interventions', String(index)];
    const { kind, strategy } = (one ?? {}) as Record<string, unknown>;
    const inner = { union: Strategy as PlainSchema, value: strategy, path: [...path, 'strategy'] };
    const outer = { union: Intervention as PlainSchema, value: one, path };
    return kind === 'strategy' ? [inner, outer] : [outer];
  });
  return [...strategies, ...wrongs, ...changes];
}

/** Returns the problem of an object whose kind is missing or unknown, or null without kinds. */
function findKindProblem(variants: PlainSchema[], value: object, path: string[]): Problem | null {
  const kinds = variants.flatMap(({ properties }) => properties?.kind?.const ?? []);
  if (kinds.length < variants.length || Array.isArray(value)) return null;
  const { kind } = value as { kind?: unknown };
  const expected = `one of ${kinds.join(', ')}`;
  const found =
    kind === undefined ? finding('MISSING', { expected }) : invalid(formatValue(kind), expected);
  return { path: [...path, 'kind'], ...found };
}

/** Returns the variant of a union whose kind the value has. */
export function variantOf({ anyOf = [] }: PlainSchema, value: unknown) {
  const kind = (value as { kind?: unknown } | null | undefined)?.kind;
  return anyOf.find(({ properties }) => properties?.kind?.const === kind);
}

const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

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
