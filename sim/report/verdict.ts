/** The verdict of a run in words, and what the auditor found. */
import { formatInstant } from '../../engine/internal.js';
import { type Html, html } from '../../report/html.js';
import { code, facts } from '../../report/page.js';
import type { SimResult, Verdict } from '../run/result.js';

const words: Record<Verdict, string> = {
  pass: 'The network decided blocks, and none of its rules was broken.',
  no_progress: 'The network stopped deciding blocks; none of its rules was broken.',
  safety: 'The network broke one of its own rules. The run ended there.',
};

export function verdictBox(result: SimResult): Html {
  const { verdict, broken, scenario } = result;
  const expected = verdict === scenario.expect;
  const bad = verdict === 'safety' || !expected;
  return html`<div class="verdict${bad ? ' bad' : null}">
<p><strong>Verdict: ${verdict}.</strong> ${words[verdict] ?? null}
${expected ? 'This is what the scenario expects.' : `The scenario expects ${scenario.expect}.`}</p>
${endingText(result)}${
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

/** What ended the run, and what that cut short; folders of before do not say. */
function endingText({ ended_by, censored = [] }: Partial<SimResult>): Html | null {
  if (ended_by === undefined) return null;
  const [rule = ''] = ended_by.split(' ', 1);
  const how = endings[rule] ?? 'a condition of the scenario was met';
  const cut = censored.map((what) => html`<li>${what}</li>`);
  return html`<p>Ended by ${code(ended_by)}: ${how}.</p>
${cut.length === 0 ? null : html`<p>What the end cut short:</p>\n<ul>${cut}</ul>\n`}`;
}

const endings: Readonly<Record<string, string>> = {
  blocks: 'as many blocks as asked for had closed',
  virtual_ms: 'its time was over',
  stalled: 'no block was decided for longer than the scenario has patience',
  nothing_due: 'nothing was left to happen',
  safety: 'a rule was broken',
};
