#!/usr/bin/env node
/**
 * Stands in for npx in the commands of the documents: runs the built command line in this process.
 * Lowers counts that would take minutes; the text of the documents stays as printed. Full counts
 * lower nothing.
 */
const main = new URL('../../dist/cli/main.js', import.meta.url);
const [program, ...args] = process.argv.slice(2);
if (program !== 'folkmoot') throw new Error(`expected npx folkmoot, not npx ${program}`);

const has = (option) => args.some((one) => one === option || one.startsWith(`${option}=`));

/** Sets an option to a value, or if it is a number, to at most this value. */
function limit(option, most) {
  const at = args.indexOf(option);
  if (at < 0) return;
  args[at + 1] = typeof most === 'string' ? most : String(Math.min(Number(args[at + 1]), most));
}

function set(option, value) {
  if (has(option)) limit(option, value);
  else args.push(option, String(value));
}

/**
 * Interrupts the command once it has printed a line. A search on a busy machine repeats its probes
 * for minutes; an interrupted search saves what it has found. After SIGINT, bash would end as well.
 */
function interruptAfter(line) {
  const write = process.stderr.write.bind(process.stderr);
  process.stderr.write = (text, ...more) => {
    if (line.test(String(text))) process.kill(process.pid, 'SIGTERM');
    return write(text, ...more);
  };
}

const lower = {
  load() {
    if (args[1] === 'compare') return;
    limit('--rate', 200);
    limit('--agents', 20);
    if (!has('--saturate')) return set('--duration', '2s');
    set('--agents', 20);
    set('--duration', '500ms');
    set('--rate', 20);
    interruptAfter(/^bracket /);
  },
  sim() {
    limit('--agents', 40);
    if (has('--url')) args.push('--set', 'length.blocks=2', '--speed', '20');
  },
  sweep() {
    if (has('--until-interval')) set('--most-replicates', 10);
    else set('--replicates', has('--resume') ? 2 : 1);
  },
  fork: () => limit('--replicates', 2),
  why() {
    limit('--replicates', 2);
    limit('--most-replicates', 4);
  },
  swarm: () => limit('--seeds', 3),
  conformance() {
    if (has('--out')) args.push('--only', 'life');
  },
};

if (process.env.FOLKMOOT_TEST_COUNTS !== 'full') lower[args[0]]?.();
process.argv = [process.argv[0], main.pathname, ...args];
await import(main.href);
