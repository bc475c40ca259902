/** What the server says of a request: the verdict first, then what to sign. */
import { time } from '../../../report/shared/numbers.js';
import { Fact } from '../../parts/lists/fact.js';
import { Lines } from '../../parts/lists/lines.js';
import { Mark } from '../../parts/mark.js';
import { plain } from '../../parts/text.js';
import type { Described } from './read.js';
import type { Verification } from './verification.js';

const MOST = 6_000;

export function Found({ request, answer }: { request: Described; answer: Verification }) {
  const { valid, message, reason, pointer, mistake, signing_input: input } = answer;
  return (
    <section class="panel" aria-labelledby="found" role="status">
      <header>
        <h2 id="found">
          <Mark of={valid ? 'holds' : 'failed'} />{' '}
          {valid ? 'Its signature holds' : plain(message ?? 'It is refused', 500)}
        </h2>
      </header>
      {valid && (
        <p>
          If it was refused all the same, the network did it, and its answer said why:{' '}
          <code>reason</code>.
        </p>
      )}
      {mistake && (
        <p>
          <b>Probably:</b> {plain(mistake, 500)}
        </p>
      )}
      <dl class="facts">
        {reason && (
          <Fact name="reason">
            <code>{plain(reason, 64)}</code>
          </Fact>
        )}
        {pointer && (
          <Fact name="where">
            <code>{plain(pointer, 200)}</code>
          </Fact>
        )}
        {answer.kind && <Fact name="taken as">{plain(answer.kind, 32)}</Fact>}
        {answer.skew_ms !== undefined && (
          <Fact name="signed">
            {time(Math.abs(answer.skew_ms))} {answer.skew_ms < 0 ? 'before' : 'after'} the server's
            time
          </Fact>
        )}
        <Fact name="request" whole>
          {plain(request.method, 16)} {plain(answer.request_target ?? request.target, 200)}
        </Fact>
        {answer.expected_input_sha256 && (
          <Fact name="sha256 of what is signed" whole>
            <code>{answer.expected_input_sha256}</code>
          </Fact>
        )}
        {answer.body_sha256 && (
          <Fact name="sha256 of the body" whole>
            <code>{answer.body_sha256}</code>
          </Fact>
        )}
      </dl>
      {input !== undefined && (
        <>
          <h3>The signature must cover exactly this text, as UTF-8</h3>
          <Lines text={input} most={MOST} />
          <p class="faint">Characters that draw nothing are shown as dots.</p>
        </>
      )}
    </section>
  );
}
