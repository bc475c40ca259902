/** Lists of slow test files: paths under test/, without the project suffix. */

/**
 * Slow files in the gate: at least one per kind of failure, and one per part that needs a process,
 * a browser or a disk. `npm run test:slow` runs all files.
 */
export const gate = [
  // The command line: exit codes, startup, shutdown, closed output.
  'cli/commands/sim',
  'cli/commands/events',
  'cli/output/tty',
  'cli/watch/export',
  // Crashes, power cuts and damaged files.
  'cli/kill',
  'live/crash/kill',
  'disk/power-begin',
  'disk/faults',
  'engine/store/crash',
  'engine/replay/tamper',
  'package/old-formats',
  // Nodes, etcd and the queue.
  'cluster/serve',
  'cluster/faults',
  'cluster/tls',
  'cluster/etcd/calls',
  'cluster/etcd/simulated',
  'sim/sweep/keep',
  'sim/sweep/resume',
  // Rules against their definitions; the auditor and the conformance suite against faulty engines.
  'engine/rules/oracle',
  'sim/audit/mutants',
  'sim/conformance/wrong-engines',
  // Clients in other languages, and over the wire.
  'own-client/python',
  'python/package',
  'engine/certificate/python',
  'client/browser',
  'client/cli',
  'cli/mcp/block',
  // Load runs.
  'bench/load/run/run',
  // The page in a browser: every view, a live network, an exported file, reports.
  'ui/journeys/live',
  'ui/page',
  'ui/exported/strangers',
  'report/look',
  // Alert rules and the dashboard in a real Prometheus.
  'deploy/prometheus',
  // Documents: every command and link in the documents, and the site.
  'docs',
  'site',
];

/** Time limit for a test in these files. */
export const longestMs = 900_000;

/** Files that take a minute or more, longest first. These files start first. */
export const longest = [
  'documents/shell',
  'sim/scripts/studies',
  'ui/exported/views',
  'sim/attribution/ablation',
  'sim/sweep/growth',
  'ui/views/journey',
  'sim/deciders/mcp/programs',
  'bench/load/endurance/endurance',
  'bench/load/run/outages',
  'cluster/peer/snapshot',
  'sim/sweep/shards/merge',
  'sim/sweep/sweep',
  'ui/load/load',
  'sim/sweep/queue/queue',
  'sim/deciders/programs',
  'ui/journeys/keys',
  'sim/sweep/tables',
  'ui/views/agent',
  'sim/sweep/queue/payload',
  'live/log/archive',
  'disk/faults',
  'ui/server-stopped',
  'ui/views/past',
  'cli/npx',
];
