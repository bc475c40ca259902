/** The verdict of a run in words, and what the auditor found. */
import { formatInstant } from '../../engine/internal.js';
import { type Html, html } from '../../report/html.js';
import { code, facts } from '../../report/page.js';
import { decidedText, endingText, runVerdicts } from '../../report/shared/verdicts.js';
import type { SimResult } from '../run/result.js';

export function verdictBox(result: SimResult): Html {
  const { verdict, broken, scenario, measures } = result;
  const expected = verdict === scenario.expect;
  const bad = verdict === 'safety' || !expected;
  return html`<div class="verdict${bad ? ' bad' : null}">
<p><strong>Verdict: ${verdict}.</strong> ${runVerdicts[verdict] ?? null}
${decidedText(verdict, measures)}
${expected ? 'This is what the scenario expects.' : `The scenario expects ${scenario.expect}.`}</p>
${ending(result)}${
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
function ending({ ended_by, censored = [], reported }: Partial<SimResult>): Html | null {
  if (ended_by === undefined) return null;
  const missing = (reported?.missing ?? []).map((text) => html`<li>${text}</li>`);
  const cut = censored.map((what) => html`<li>${what}</li>`);
  return html`<p>Ended by ${code(ended_by)}: ${endingText(ended_by)}.</p>
${cut.length === 0 ? null : html`<p>What the end cut short:</p>\n<ul>${cut}</ul>\n`}${
  missing.length === 0
    ? null
    : html`<p>Warnings about measures of scripts:</p>\n<ul>${missing}</ul>\n`
}`;
}
