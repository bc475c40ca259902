/** What was asked in one line, and whether the figures can be believed. */
import { type Html, html } from '../../../report/html.js';
import { shown } from '../../../report/shared/numbers.js';
import { loadVerdicts } from '../../../report/shared/verdicts.js';
import type { LoadResult } from '../result.js';

export function titleOf({ asked, saturation, measured_s }: LoadResult): string {
  const { workload, rate, concurrency } = asked;
  if (saturation) return `Load: ${workload}, saturation`;
  const load = rate === null ? `${shown(concurrency)} at a time` : `${shown(rate)} a second`;
  return `Load: ${workload}, ${load}, ${shown(Math.round(measured_s * 10) / 10)} s`;
}

const ends: Record<LoadResult['ended'], string | null> = {
  complete: null,
  interrupted: 'The run was interrupted: what is here was measured before.',
  failed: 'The run could not go on: what is here was measured before.',
};

/** What is sought and what it is sought with differ in what may be unsteady. */
const searched = 'The speed of the machine moved while the rate that holds was sought.';

export function verdictBox({ verdict, reasons, ended, saturation }: LoadResult): Html {
  const paragraphs = [ends[ended], ...reasons].filter((text) => text !== null);
  const said = verdict === 'UNSTABLE' && saturation ? searched : loadVerdicts[verdict];
  return html`<div class="verdict${verdict === 'VALID' && ended === 'complete' ? null : ' bad'}">
<p><strong>Verdict: ${verdict}${ended === 'complete' ? null : `, ${ended}`}.</strong> ${said}</p>
${paragraphs.map((text) => html`<p>${text}</p>\n`)}</div>
`;
}
