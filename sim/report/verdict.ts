/** The verdict of a run in words, and what the auditor found. */
import { formatInstant } from '../../engine/internal.js';
import { type Html, html } from '../../report/html.js';
import { facts } from '../../report/page.js';
import type { SimResult, Verdict } from '../run/result.js';

const words: Record<Verdict, string> = {
  pass: 'The network finalized blocks, and none of its rules was broken.',
  no_progress: 'The network stopped finalizing blocks; none of its rules was broken.',
  safety: 'The network broke one of its own rules. The run ended there.',
};

export function verdictBox({ verdict, broken, scenario }: SimResult): Html {
  const expected = verdict === scenario.expect;
  const bad = verdict === 'safety' || !expected;
  return html`<div class="verdict${bad ? ' bad' : null}">
<p><strong>Verdict: ${verdict}.</strong> ${words[verdict] ?? null}
${expected ? 'This is what the scenario expects.' : `The scenario expects ${scenario.expect}.`}</p>
${
  broken === null
    ? null
    : facts([
        { name: 'rule', value: broken.rule, wide: true },
        { name: 'when, by the time of the engine', value: formatInstant(broken.at), wide: true },
        { name: 'actor', value: broken.actor, wide: true },
        { name: 'expected', value: broken.expected, wide: true },
        { name: 'found', value: broken.found, wide: true },
      ])
}</div>
`;
}
