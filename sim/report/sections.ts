/** Sections shared by several reports: the scenario as YAML, and links from a report to the UI. */
import { isDeepStrictEqual } from 'node:util';
import { Document, isScalar, visit } from 'yaml';
import { type TSchema, Value } from '../../engine/protocol/bundled/typebox.js';
import { hasFile } from '../../report/folder.js';
import { type Html, html, listing, section } from '../../report/page.js';
import { commandLine, format, formatMs } from '../../report/shared/format.js';
import type { SimResult } from '../run/result.js';
import { Intervention } from '../scenario/schema/interventions.js';
import { Fault } from '../scenario/schema/network.js';
import { Group, Scenario } from '../scenario/schema/scenario.js';
import { Strategy } from '../scenario/schema/strategies.js';
import { variantOf } from '../scenario/shape.js';
import type { ClosedBlock } from './timeline.js';

type Tree = Record<string, unknown>;

export function configuration(scenario: Scenario): Html {
  return html`<p>Values that differ from the defaults:</p>
${listing('values that differ from the defaults', yaml(departures(scenario)))}
<details>
<summary>Complete scenario, including defaults</summary>
${listing('complete scenario', yaml(scenario))}
</details>
`;
}

/** Formats a value as YAML, with lists of scalars on one line. */
function yaml(value: unknown): string {
  const document = new Document(value, { aliasDuplicateObjects: false });
  visit(document, {
    Seq: (_, list) => {
      list.flow = list.items.every(isScalar);
    },
  });
  return document.toString({ lineWidth: 90, flowCollectionPadding: false });
}

/** Returns the smallest scenario file that produces this scenario. */
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

/** Returns the members unlike the defaults of this kind of strategy, fault or intervention. */
function ownOfKind(element: { kind: string }, union: TSchema): Tree {
  const { kind, ...rest } = element;
  const schema = variantOf(union, element);
  const defaults = schema ? (Value.Default(schema, {}) as Tree) : {};
  return { kind, ...differing(rest, defaults) };
}

/** Returns members that differ. Compares objects member by member and lists as a whole. */
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

/** Whole run in one file, if a user exported the run into its folder. */
const EXPORTED = 'run.html';

export const isExported = (folder: string): boolean => hasFile(folder, EXPORTED);

/** @param place folder relative to the report, with a final slash; '' for its own folder. */
export const formatExportLink = (place: string, entry: number): string =>
  `${place}${EXPORTED}?at=${entry}`;

/** Links to the slowest block and to the first block with each outcome other than finalized. */
export function blockLinks(blocks: readonly ClosedBlock[]): { text: string; href: string }[] {
  const [slowest] = blocks
    .filter(({ finalityMs }) => finalityMs !== null)
    .toSorted((a, b) => b.finalityMs! - a.finalityMs!);
  const ends = (['rejected', 'expired', 'orphaned'] as const).flatMap((status) => {
    const first = blocks
      .filter((block) => block.status === status)
      .toSorted((a, b) => a.closedMs - b.closedMs)[0];
    return first ? [{ block: first, text: `First ${status} block: ${first.height}` }] : [];
  });
  const found = slowest
    ? [
        {
          block: slowest,
          text: `Slowest block: ${slowest.height}, ${formatMs(slowest.finalityMs)}`,
        },
      ]
    : [];
  return [...found, ...ends].map(({ block, text }) => ({
    text,
    href: `${EXPORTED}?view=block&item=${block.hash}`,
  }));
}

const MOST_LINKS = 20;

/** Section with links to the log; null if the run's log was not saved. */
export function closerSection(folder: string, result: SimResult): Html | null {
  if (!hasFile(folder, 'network')) return null;
  return section(
    'Explore',
    html`<p>The UI shows every agent and block at any entry of the log. Run in the folder of this
report:</p>
${listing('command that opens the run in the UI', commandLine('explore', '.'))}`,
    isExported(folder) ? exportedLinks(result) : null,
  );
}

/** Links to the interventions, the start and the end of the run. */
function exportedLinks({ interventions = [], entries }: SimResult): Html {
  const moments = interventions.flatMap(({ what, entry }) =>
    entry === null ? [] : [{ entry, text: `${what}, after entry ${format(entry)}` }],
  );
  const places = [
    { entry: 0, text: 'Start' },
    ...moments.slice(0, MOST_LINKS),
    { entry: entries - 1, text: `End, entry ${format(entries - 1)}` },
  ];
  const links = places.map(
    ({ entry, text }) => html`<li><a href="${formatExportLink('', entry)}">${text}</a></li>\n`,
  );
  return html`<p>The whole run is in one file next to this report. It needs no server:</p>
<ul>
${links}</ul>
`;
}
