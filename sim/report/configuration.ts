/** A scenario as YAML: first what differs from the defaults, then all of it. */
import { isDeepStrictEqual } from 'node:util';
import { Document, isScalar, visit } from 'yaml';
import { type TSchema, Value } from '../../engine/internal.js';
import { type Html, html } from '../../report/html.js';
import { listing } from '../../report/page.js';
import { Fault } from '../scenario/schema/faults.js';
import { Intervention } from '../scenario/schema/interventions/interventions.js';
import { Group, Scenario } from '../scenario/schema/scenario.js';
import { Strategy } from '../scenario/schema/strategies.js';

type Tree = Record<string, unknown>;

export function configuration(scenario: Scenario): Html {
  return html`<p>What differs from the defaults:</p>
${listing('what differs from the defaults', yaml(departures(scenario)))}
<details>
<summary>The whole scenario, with all defaults</summary>
${listing('the whole scenario', yaml(scenario))}
</details>
`;
}

/** Lists of plain values on one line. */
function yaml(value: unknown): string {
  const document = new Document(value, { aliasDuplicateObjects: false });
  visit(document, {
    Seq: (_, list) => {
      list.flow = list.items.every(isScalar);
    },
  });
  return document.toString({ lineWidth: 90, flowCollectionPadding: false });
}

/** What a file must say for the defaults to fill in the rest. */
function departures({ agents, faults, interventions, sweep, ...rest }: Scenario): Tree {
  const defaults = Value.Default(Scenario, {}) as Tree;
  return {
    ...differing(rest, defaults),
    agents: agents.map(ownOfGroup),
    ...(faults.length > 0 ? { faults: faults.map((fault) => ownOfKind(fault, Fault)) } : {}),
    ...(interventions.length > 0
      ? { interventions: interventions.map((one) => ownOfKind(one, Intervention)) }
      : {}),
    ...(sweep === undefined ? {} : { sweep }),
  };
}

function ownOfGroup({ strategy, ...rest }: Group): Tree {
  const own = differing(rest, Value.Default(Group, {}) as Tree);
  return strategy.kind === 'personality'
    ? own
    : { ...own, strategy: ownOfKind(strategy, Strategy) };
}

/** What is said of a strategy or a fault, whose kind says which defaults it has. */
function ownOfKind(element: { kind: string }, { anyOf }: { anyOf: TSchema[] }): Tree {
  const { kind, ...rest } = element;
  const schema = anyOf.find((one) => Value.Check(kindOf(one), kind));
  const defaults = schema ? (Value.Default(schema, {}) as Tree) : {};
  return { kind, ...differing(rest, defaults) };
}

const kindOf = (schema: TSchema) => (schema as { properties?: { kind: TSchema } }).properties!.kind;

/** Members whose value is another; sections are gone through, lists compared as a whole. */
function differing(value: object, defaults: Tree): Tree {
  const pairs = Object.entries(value)
    .filter(([name, inner]) => !isDeepStrictEqual(inner, defaults[name]))
    .map(([name, inner]) => {
      const standard = defaults[name];
      return [name, isTree(inner) && isTree(standard) ? differing(inner, standard) : inner];
    });
  return Object.fromEntries(pairs) as Tree;
}

const isTree = (value: unknown): value is Tree =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
