/** Audited town that records the requests to the network. */
import type { SignedRequest } from 'folkmoot';
import { Auditor, type ObservedStep, type Violation, violationText } from 'folkmoot/sim';
import { Population } from '../../engine/helpers.js';
import { type TestNetworkOptions, testNetwork } from '../../support/fixture.js';

export interface AuditedTown {
  town: Population;
  auditor: Auditor;
  puts: ObservedStep[];
  /** Advances the clock; the next command fires the deadlines. */
  wait(ms: number): void;
  pass(): void;
  /** Compares all reads with the model. */
  finish(): Promise<void>;
}

const expectNone = (violation: Violation | null) =>
  expect(violation && violationText(violation)).toBeNull();

export async function auditedTown(options: TestNetworkOptions = {}): Promise<AuditedTown> {
  const { network, clock } = await testNetwork({ verifier: 'off', ...options });
  const auditor = new Auditor(network.genesis);
  const puts: ObservedStep[] = [];
  const submit = async (request: SignedRequest) => {
    const verified = await network.verify(request);
    if ('refusal' in verified) return { result: 'refused' as const, refusal: verified.refusal };
    const { outcome, events, durable } = network.apply(verified);
    const put = { at: clock.now(), command: verified.command, outcome, events };
    puts.push(put);
    expectNone(auditor.observe(put));
    await durable;
    return outcome;
  };
  return {
    town: new Population({ network, clock, submit }, options.verifier ?? 'off'),
    auditor,
    puts,
    wait: (ms) => clock.set(clock.now() + ms),
    pass: () => expectNone(auditor.advance(clock.now(), network.fireDeadlines())),
    finish: async () => {
      await network.durable;
      expectNone(auditor.finish(clock.now(), network.read));
    },
  };
}
