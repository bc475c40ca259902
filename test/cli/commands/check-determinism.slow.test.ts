/** `sim --check-determinism`: compares two runs in separate processes. */
import { mutant } from '../../sim/swarm/mutant.js';
import { smallRaw, writeScenario } from '../../sim/sweep/scenarios.js';
import { folkmoot } from '../../support/cli.js';
import type { Ended } from '../../support/command.js';
import { temporaryFolder } from '../../support/fixture.js';
import { main } from '../../support/paths.js';

const check = (args: readonly string[], program = main): Promise<Ended> =>
  folkmoot(['sim', ...args, '--check-determinism'], { program });

const personal = () => {
  const raw = smallRaw(8);
  const agents = [{ ...raw.agents[0], strategy: { kind: 'personality' } }];
  return writeScenario(temporaryFolder(), { ...raw, agents, length: { blocks: 4 } });
};

/** Injected bug: makes the run depend on the verifier. */
const inline = "process.argv.includes('inline')";

test('check: two equal runs are deterministic', async () => {
  const file = personal();
  const { code, stdout } = await check([file, '--verifier', 'off']);
  expect([0, 10]).toContain(code);
  expect(stdout).toMatch(/^deterministic: .* [0-9a-f]{64}\n$/);
  const json = await check([file, '--json']);
  expect(JSON.parse(json.stdout)).toEqual({ same: true, digest: stdout.trim().split(' ').at(-1) });
});

test('check: an invalid scenario prints one error', async () => {
  const { code, stdout, stderr } = await check([personal(), '--set', 'links.luck=1']);
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr.match(/folkmoot: /g)).toHaveLength(1);
});

test('check: a different decision is reported with its voter', async () => {
  const from = "random: agent.rng('whim', block).int(101)";
  const program = mutant(['sim/agents/actions.js', from, `random: ${inline} ? 0 : 100`]);
  const set = ['--set', 'agents.town.traits={"random":100,"technical":0,"social":0,"meme":0}'];
  const { code, stdout } = await check([personal(), ...set], program);
  expect(code).toBe(12);
  const lines = stdout.split('\n');
  expect(lines[0]).toMatch(/^not deterministic: .* entry \d+ \((vote|discuss|meme)\)$/);
  expect(stdout).toMatch(/^ {2}by {6}\S+ \(key [0-9a-f]{64}\)/m);
  expect(stdout).toMatch(/^ {2}field {3}\S+/m);
});

test('check: equal entries with different events are reported', async () => {
  const from = "state.outbox.emit('block_validation', data);";
  const becomes = `data.reason += ${inline}; ${from}`;
  const program = mutant(['engine/core/commands/blocks.js', from, becomes]);
  const { code, stdout } = await check([personal(), '--no-audit'], program);
  expect(code).toBe(12);
  expect(stdout).toMatch(/entry \d+ \(vote\): /);
  expect(stdout).toMatch(/event {3}\d+ \(block_validation\)/);
  expect(stdout).toMatch(/field {3}data\.reason/);
});
