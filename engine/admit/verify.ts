/** Verification of an admitted request: the key must be known, and every signature must hold. */
import { type Verifier, VerifierBusy, type VerifyJob } from '../crypto/verifier.js';
import { type Refusal, refuse } from '../protocol/schema/reason.js';
import { sha256Hex } from '../protocol/signing.js';
import { type Admitted, checked } from './admit.js';
import { checkKnownKey, type Knows } from './credentials.js';

/** A request that is well-formed and whose signatures were checked: only verification makes one. */
export interface Verified extends Admitted {
  /** @internal */
  [checked]: true;
}

/** Marks what was checked; it copies nothing. */
function mark(admitted: Admitted): Verified {
  admitted[checked] = true;
  return admitted as Verified;
}

/** Whether a value came out of verification: an untyped program can give anything else. */
export const isVerified = (value: Verified): boolean =>
  typeof value === 'object' && value?.[checked] === true;

/** The request's own signature first, then those inside it. */
const allJobs = ({ ownJob, innerJobs }: Admitted): VerifyJob[] => [ownJob(), ...innerJobs()];

/** The request's own signature and those inside it, in one go. */
async function verifyAll(
  admitted: Admitted,
  verifier: Verifier,
  knows: Knows,
): Promise<Verified | { refusal: Refusal }> {
  const refusal = checkKnownKey(admitted.command, knows);
  if (refusal) return { refusal };
  const verdicts = await verdictsOf(allJobs(admitted), verifier);
  if ('refusal' in verdicts) return verdicts;
  const [own, ...inner] = verdicts.valid;
  return own ? withInner(admitted, failedIn(inner)) : { refusal: mismatch(admitted) };
}

/** Taken as it is, where nothing is verified: the key must be known all the same. */
function takeUnverified(
  admitted: Admitted,
  verifier: Verifier,
  knows: Knows,
): Verified | { refusal: Refusal } {
  if (verifier.name !== 'off') throw new TypeError('signatures are verified here: use verifyAll');
  const refusal = checkKnownKey(admitted.command, knows);
  return refusal ? { refusal } : mark(admitted);
}

/** The signatures inside a request whose own one holds; at once where there are none. */
function verifyInner(
  admitted: Admitted,
  verifier: Verifier,
): Verified | Promise<Verified | { refusal: Refusal }> {
  const jobs = admitted.innerJobs();
  if (jobs.length === 0) return withInner(admitted);
  return verdictsOf(jobs, verifier).then((verdicts) =>
    'refusal' in verdicts ? verdicts : withInner(admitted, failedIn(verdicts.valid)),
  );
}

/**
 * A failed signature of a proposal's transaction is told to the engine, which refuses it last,
 * after everything that is wrong with the block.
 */
function withInner(admitted: Admitted, failed?: number): Verified {
  const { command } = admitted;
  if (command.kind !== 'propose' || failed === undefined) return mark(admitted);
  return mark({ ...admitted, command: { ...command, failed_transaction: failed } });
}

function failedIn(valid: readonly boolean[]): number | undefined {
  const failed = valid.indexOf(false);
  return failed < 0 ? undefined : failed;
}

function verdictsOf(
  jobs: readonly VerifyJob[],
  verifier: Verifier,
): Promise<{ valid: boolean[] } | { refusal: Refusal }> {
  return verifier.verify(jobs).then(
    (valid) => ({ valid }),
    (error) => ({ refusal: busy(error) }),
  );
}

/** What a full queue is to the caller; everything else is a fault. */
function busy(error: unknown): Refusal {
  if (!(error instanceof VerifierBusy)) throw error;
  return refuse('VERIFIER_BUSY');
}

const shortHex = (hex: string) => `${hex.slice(0, 16)}..`;

function mismatch({ request, command, signature, inputSha256 }: Admitted): Refusal {
  const input_sha256 = inputSha256();
  const details = {
    kind: request.kind,
    expected_input_sha256: input_sha256,
    body_sha256: sha256Hex(request.body),
    request_target: request.target,
  };
  const values = { public_key: command.public_key, signature: shortHex(signature), input_sha256 };
  return refuse('SIGNATURE_MISMATCH', values, { details });
}

/**
 * The signatures of requests, checked for one network, in steps: its own signature, then a look at
 * what it asks, then those inside it. `Network.verify` does all at once.
 */
export class Verification {
  readonly #verifier: Verifier;
  readonly #hasKey: (publicKey: string) => boolean;

  /** @internal */
  constructor(verifier: Verifier, knows: (publicKey: string) => boolean) {
    this.#verifier = verifier;
    this.#hasKey = knows;
  }

  /** False in a simulation that does not verify signatures. */
  get enabled(): boolean {
    return this.#verifier.name !== 'off';
  }

  /** All signatures of a request in one go. */
  all(admitted: Admitted): Promise<Verified | { refusal: Refusal }> {
    return verifyAll(admitted, this.#verifier, this.#hasKey);
  }

  /**
   * The request's own signature alone; null when it holds. The caller knows that the key is
   * registered, and `inner` verifies the signatures inside the request.
   */
  own(admitted: Admitted): Promise<Refusal | null> {
    return this.#verifier
      .verify([admitted.ownJob()])
      .then(([valid]) => (valid ? null : mismatch(admitted)), busy);
  }

  /** Counts a signature that another process of this server has verified. */
  countHeld(): void {
    this.#verifier.stats.verified += 1;
  }

  /**
   * Does the work of `all` for a request that another node of this network has verified: its own
   * signature holds, and so do those inside it, except that of the transaction `failed`.
   */
  elsewhere(admitted: Admitted, failed?: number): Verified {
    return withInner(admitted, failed);
  }

  /** The signatures inside a request whose own one holds; at once where there are none. */
  inner(admitted: Admitted): Verified | Promise<Verified | { refusal: Refusal }> {
    return verifyInner(admitted, this.#verifier);
  }

  /**
   * Accepts a request of a registered key without verifying signatures.
   * @throws {TypeError} where signatures are verified.
   */
  skip(admitted: Admitted): Verified | { refusal: Refusal } {
    return takeUnverified(admitted, this.#verifier, this.#hasKey);
  }

  /** One signature of a known key over any text: what no command carries. */
  async text(job: VerifyJob): Promise<boolean> {
    const [valid] = await this.#verifier.verify([job]);
    return valid === true;
  }
}
