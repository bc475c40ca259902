/** Output for CI systems: JUnit XML, GitHub's step summary and annotations. Each escapes texts. */
import { appendFileSync, writeFileSync } from 'node:fs';
import type { Judgement } from '../../../bench/load/conditions.js';
import type { LoadResult } from '../../../bench/load/result.js';
import { describeSystemError } from '../../../engine/protocol/messages.js';
import { escapeHtml } from '../../../report/page.js';
import { UsageError } from '../../output/exit.js';
import { writeStderr } from '../../output/output.js';
import { loadSummary } from './summary.js';

export interface Judged extends Judgement {
  condition: string;
}

/** Problem of a check: `failure` for a missed threshold, `error` if the check was impossible. */
interface Check {
  name: string;
  problem: { kind: 'failure' | 'error'; text: string } | null;
}

/** Returns one check for the verdict and one per condition. */
function checksOf(result: LoadResult, usable: boolean, judged: readonly Judged[]): Check[] {
  const { verdict, reasons } = result;
  const why = [verdict, ...reasons].join('; ');
  const checks = judged.map(({ condition, met, unmeasured }): Check => {
    if (met !== null) return { name: condition, problem: { kind: 'failure', text: met } };
    if (unmeasured === null) return { name: condition, problem: null };
    return { name: condition, problem: { kind: 'error', text: unmeasured } };
  });
  return [{ name: 'verdict', problem: usable ? null : { kind: 'error', text: why } }, ...checks];
}

/** Replaces characters that XML 1.0 does not allow, even when escaped. */
const xml = (text: string): string =>
  escapeHtml(text.replace(/[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu, '?'));

export function junitXml(result: LoadResult, usable: boolean, judged: readonly Judged[]): string {
  const checks = checksOf(result, usable, judged);
  const { workload } = result.asked;
  const time = result.measured_s.toFixed(3);
  const count = (kind: 'failure' | 'error') =>
    checks.filter(({ problem }) => problem?.kind === kind).length;
  const problems = `failures="${count('failure')}" errors="${count('error')}"`;
  const counts = `tests="${checks.length}" ${problems}`;
  const cases = checks.map(({ name, problem }) => {
    const head = `    <testcase classname="folkmoot.load.${workload}" name="${xml(name)}" time="0"`;
    if (problem === null) return `${head}/>`;
    const { kind, text } = problem;
    return `${head}>\n      <${kind} message="${xml(text)}"/>\n    </testcase>`;
  });
  const properties = Object.entries({
    ...{ verdict: result.verdict, seed: result.seed, generator_commit: result.commit },
    server: result.server.url,
    server_version: result.server.version ?? 'unknown',
  }).map(([name, value]) => `      <property name="${name}" value="${xml(value)}"/>`);
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${counts} time="${time}">`,
    `  <testsuite name="folkmoot load ${workload}" ${counts} time="${time}" ` +
      `timestamp="${xml(result.started)}">`,
    '    <properties>',
    ...properties,
    '    </properties>',
    ...cases,
    `    <system-out>${xml(loadSummary(result).join('\n'))}</system-out>`,
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

/** A Markdown cell on one line. HTML and Markdown in a foreign text stay text. */
export const markdownCell = (text: string): string =>
  escapeHtml(text.replace(/\s+/g, ' ')).replace(/[\\`*_{}[\]|!#~]/g, '\\$&');

function stepSummary(result: LoadResult, usable: boolean, judged: readonly Judged[]): string {
  const rows = checksOf(result, usable, judged).map(({ name, problem }) => {
    const outcome = problem === null ? 'passed' : `**missed**: ${markdownCell(problem.text)}`;
    return `| ${markdownCell(name)} | ${outcome} |`;
  });
  return [
    `### Load test: ${result.asked.workload}, ${result.verdict}`,
    '',
    '| check | result |',
    '| ----- | ------ |',
    ...rows,
    '',
    '<details><summary>Figures</summary>',
    '',
    `<pre>${escapeHtml(loadSummary(result).join('\n'))}</pre>`,
    '',
    '</details>',
    '',
  ].join('\n');
}

/** Formats a workflow command. The runner decodes these escapes. */
function annotation(title: string, text: string): string {
  const escaped = (value: string) =>
    value.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
  const property = escaped(title).replaceAll(':', '%3A').replaceAll(',', '%2C');
  return `::error title=${property}::${escaped(text)}`;
}

/**
 * Writes the JUnit file and, if the environment names its file, the step summary, with annotations
 * on standard error. @throws {UsageError} if a file cannot be written.
 */
export function reportToCi(
  result: LoadResult,
  usable: boolean,
  judged: readonly Judged[],
  junit: string | undefined,
): void {
  if (junit !== undefined)
    write(junit, () => writeFileSync(junit, junitXml(result, usable, judged)));
  const summary = process.env.GITHUB_STEP_SUMMARY;
  if (summary === undefined || summary === '') return;
  write(summary, () => appendFileSync(summary, stepSummary(result, usable, judged)));
  for (const { name, problem } of checksOf(result, usable, judged)) {
    if (problem) writeStderr(annotation(`folkmoot load: ${name}`, problem.text));
  }
}

/** Writes a file. @throws {UsageError} */
export function write(path: string, work: () => void): void {
  try {
    work();
  } catch (error) {
    throw new UsageError('FILE_NOT_WRITABLE', { path, reason: describeSystemError(error) });
  }
}
