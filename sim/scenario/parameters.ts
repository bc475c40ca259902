/**
 * The parameters of a scenario that a person changes by hand: every number, choice and flag that
 * the schema bounds, with its present value. Lists such as interventions are left out.
 */
import type { RunParameter } from '../../api/contract/control.js';
import { settable } from './interventions.js';
import type { PlainSchema } from './schema/common.js';
import { Scenario } from './schema/scenario.js';

/** Sections that describe the experiment, not the network. */
const apart = new Set([
  ...['title', 'question', 'expect', 'seed', 'sweep', 'measure', 'budget', 'prompts'],
  ...['deliberation', 'interventions', 'signatures', 'limits', 'whom', 'between'],
]);

/** Largest values on a page; a value that is larger in the scenario is its own bound. */
const bounds: readonly (readonly [path: RegExp, most: number])[] = [
  [/^population$|\.count$/, 10_000],
  [/^length\.blocks$/, 1_000],
  [/^length\.virtual_ms$/, 86_400_000],
];

/** Lists the parameters in the order of the schema, those of the sweep first. */
export function listParameters(scenario: Scenario): RunParameter[] {
  const factors = scenario.sweep?.factors ?? [];
  const { population: total, ...rest } = scenario;
  // With a count in every group, the population is their sum.
  const values = scenario.agents.every(({ count }) => count !== undefined)
    ? rest
    : { population: total, ...rest };
  const found = [...leavesOf(Scenario as PlainSchema, values, [])].map((one) => {
    const factor = factors.find(({ path }) => path === one.path);
    if (!factor) return one;
    const numbers = [...(factor.values ?? []), factor.from, factor.to].filter(
      (value) => typeof value === 'number',
    );
    const varied =
      numbers.length > 1 ? { range: [Math.min(...numbers), Math.max(...numbers)] } : {};
    return { ...one, ...varied, featured: true };
  });
  return [...found.filter(({ featured }) => featured), ...found.filter((one) => !one.featured)];
}

function* leavesOf(
  schema: PlainSchema,
  value: unknown,
  path: readonly string[],
): Generator<RunParameter> {
  if (value === undefined || value === null) return;
  const one = branchOf(schema, value);
  if (typeof value === 'object') {
    const isList = Array.isArray(value);
    for (const [key, inner] of Object.entries(value)) {
      if (apart.has(key)) continue;
      if (isList && typeof inner !== 'object') return;
      const member = isList ? one.items : one.properties?.[key];
      const step = isList ? ((inner as { group?: string }).group ?? key) : key;
      yield* leavesOf(member ?? {}, inner, [...path, step]);
    }
    return;
  }
  const kind = kindOf(one, value);
  if (kind === null) return;
  const name = path.join('.');
  const most = bounds.find(([pattern]) => pattern.test(name))?.[1];
  const { minimum, maximum = Number.POSITIVE_INFINITY } = one;
  const bound = most === undefined ? maximum : Math.min(maximum, Math.max(most, Number(value)));
  yield {
    ...{ path: name, about: one.description ?? '', kind, value: value as RunParameter['value'] },
    ...(kind === 'number' && minimum !== undefined ? { minimum } : {}),
    ...(kind === 'number' && Number.isFinite(bound) ? { maximum: bound } : {}),
    ...(one.type === 'integer' ? { whole: true } : {}),
    ...(one.enum ? { choices: one.enum.map(String) } : {}),
    ...(settable(name) ? { later: true } : {}),
  };
}

function kindOf(
  { enum: choices, const: only }: PlainSchema,
  value: unknown,
): RunParameter['kind'] | null {
  if (only !== undefined) return null;
  if (choices) return choices.every((one) => typeof one === 'string') ? 'choice' : null;
  if (typeof value === 'boolean') return 'flag';
  return typeof value === 'number' ? 'number' : null;
}

/** Returns the variant of a union that the value belongs to: by its kind, or by its type. */
function branchOf(schema: PlainSchema, value: unknown): PlainSchema {
  const { anyOf = [] } = schema;
  if (anyOf.length === 0) return schema;
  const { kind } = value as { kind?: unknown };
  const isNumber = typeof value === 'number';
  return (
    anyOf.find(({ properties, type }) =>
      isNumber
        ? type === 'number' || type === 'integer'
        : kind !== undefined && properties?.kind?.const === kind,
    ) ?? {}
  );
}

/** Returns what is wrong with a new value; null if the page may set it. */
export function findValueProblem(
  { kind, minimum, maximum, whole, choices = [] }: RunParameter,
  value: unknown,
): string | null {
  if (kind === 'flag') return typeof value === 'boolean' ? null : 'expected true or false';
  if (kind === 'choice') {
    return choices.includes(value as string) ? null : `expected one of ${choices.join(', ')}`;
  }
  const isNumber = typeof value === 'number' && Number.isFinite(value);
  if (!isNumber || (whole && !Number.isInteger(value))) {
    return `expected ${whole ? 'an integer' : 'a number'}`;
  }
  if (minimum !== undefined && value < minimum) return `expected at least ${minimum}`;
  return maximum !== undefined && value > maximum ? `expected at most ${maximum}` : null;
}
