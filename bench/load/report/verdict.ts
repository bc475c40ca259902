/** What was asked in one line, and whether the figures can be believed. */
import { type Html, html } from '../../../report/html.js';
import { shown } from '../../../report/numbers.js';
import type { LoadResult } from '../result.js';

export function titleOf({ asked, saturation, measured_s }: LoadResult): string {
  const { workload, rate, concurrency } = asked;
  if (saturation) return `Load: ${workload}, saturation`;
  const load = rate === null ? `${shown(concurrency)} at a time` : `${shown(rate)} a second`;
  return `Load: ${workload}, ${load}, ${shown(Math.round(measured_s * 10) / 10)} s`;
}

const words: Record<LoadResult['verdict'], string> = {
  VALID: 'The server got the load that was asked for, and the figures are its own.',
  UNSTABLE: 'The two halves of the run differ: the figures are an average of no steady state.',
  CLIENT_BOUND:
    'The load tester could not keep its own schedule: the figures are its own, not the server’s.',
  INVALID: 'The figures are not of the load that was asked for.',
};

const ends: Record<LoadResult['ended'], string | null> = {
  complete: null,
  interrupted: 'The run was interrupted: what is here was measured before.',
  failed: 'The run could not go on: what is here was measured before.',
};

/** What is sought and what it is sought with differ in what may be unsteady. */
const searched = 'The speed of the machine moved while the rate that holds was sought.';

export function verdictBox({ verdict, reasons, ended, saturation }: LoadResult): Html {
  const paragraphs = [ends[ended], ...reasons].filter((text) => text !== null);
  const said = verdict === 'UNSTABLE' && saturation ? searched : words[verdict];
  return html`<div class="verdict${verdict === 'VALID' && ended === 'complete' ? null : ' bad'}">
<p><strong>Verdict: ${verdict}${ended === 'complete' ? null : `, ${ended}`}.</strong> ${said}</p>
${paragraphs.map((text) => html`<p>${text}</p>\n`)}</div>
`;
}
