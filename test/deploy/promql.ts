/** The PromQL expressions of the alert rules and of the dashboard. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { root } from '../support/paths.js';

interface Expression {
  /** Alert or panel. */
  of: string;
  expr: string;
}

const read = (path: string) => readFileSync(join(root, 'deploy', path), 'utf8');

export function alertExpressions(): Expression[] {
  const { groups } = parse(read('prometheus/alerts.yml')) as {
    groups: { rules: { alert: string; expr: string }[] }[];
  };
  return groups.flatMap(({ rules }) => rules).map(({ alert, expr }) => ({ of: alert, expr }));
}

/** Returns the dashboard's expressions, with Grafana's variables replaced. */
export function dashboardExpressions(): Expression[] {
  const { panels, annotations } = JSON.parse(read('grafana/dashboard.json')) as {
    panels: { title: string; targets?: { expr: string }[] }[];
    annotations: { list: { name: string; expr: string }[] };
  };
  const targets = panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }) => ({ of: title, expr })),
  );
  const marks = annotations.list.map(({ name, expr }) => ({ of: name, expr }));
  return [...targets, ...marks].map(({ of, expr }) => ({
    of,
    expr: expr
      .replaceAll('$__rate_interval', '1m')
      .replaceAll('$job', 'folkmoot')
      .replaceAll('$instance', '.+'),
  }));
}

/** Returns the metrics that an expression names, without `up`, which Prometheus adds. */
export const metricsIn = (expr: string): string[] => [
  ...new Set(expr.match(/\bfolkmoot_\w+/g) ?? []),
];
