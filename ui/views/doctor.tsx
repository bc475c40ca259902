/**
 * The view Request doctor: a reader pastes a request that was refused, and the server says what it
 * would have verified.
 */
import { useState } from 'preact/hooks';
import { formatMs } from '../../report/shared/format.js';
import { cleanText } from '../components/labels.js';
import { Fact, Lines } from '../components/lists.js';
import { Mark, Unavailable } from '../components/placeholders.js';
import { fetchPath } from '../components/requests.js';
import { type DescribedRequest, parseRequest, type Verification } from './doctor-request.js';

const EXAMPLE = `POST /api/v1/consensus/vote
X-Agent-Public-Key: 0123…
Content-Type: application/json

{"block_hash":"…","decision":"approve","timestamp":"2026-01-01T00:00:00Z","signature":"…"}`;

type State =
  | { is: 'idle' }
  | { is: 'asking' }
  | { is: 'answered'; request: DescribedRequest; answer: Verification }
  | { is: 'failed'; why: string };

export function View() {
  const [text, write] = useState('');
  const [state, set] = useState<State>({ is: 'idle' });
  const ask = async () => {
    const request = parseRequest(text);
    if (typeof request === 'string') return set({ is: 'failed', why: request });
    set({ is: 'asking' });
    try {
      const answer = await fetchPath('/api/v1/debug/verify', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(request),
      });
      const { data } = (await answer.json()) as { data: Verification };
      set({ is: 'answered', request, answer: data });
    } catch (error) {
      set({ is: 'failed', why: error instanceof Error ? error.message : String(error) });
    }
  };
  return (
    <div class="doctor">
      <header class="view-head">
        <h1>
          Request doctor <span class="faint">says what a refused request should have signed</span>
        </h1>
      </header>
      <Unavailable what="server">
        <form
          class="panel"
          onSubmit={(event) => {
            event.preventDefault();
            void ask();
          }}
        >
          <label for="request">
            <b>The request</b>{' '}
            <span class="faint">
              as it was sent: a curl command, the raw HTTP, or JSON of method, target, headers and
              body. Nothing is changed by it, and no private key belongs here.
            </span>
          </label>
          <textarea
            id="request"
            rows={12}
            spellcheck={false}
            autocomplete="off"
            placeholder={EXAMPLE}
            value={text}
            onInput={(event) => write(event.currentTarget.value)}
          />
          <p class="proof-ask">
            <button
              type="submit"
              class="button"
              disabled={state.is === 'asking' || text.trim() === ''}
            >
              {state.is === 'asking' ? 'Asking …' : 'What is wrong with it?'}
            </button>
          </p>
        </form>
        {state.is === 'failed' && (
          <p class="panel" role="alert">
            {state.why}
          </p>
        )}
        {state.is === 'answered' && <Found request={state.request} answer={state.answer} />}
      </Unavailable>
    </div>
  );
}

const MOST_INPUT = 6_000;

function Found({ request, answer }: { request: DescribedRequest; answer: Verification }) {
  const { valid, message, reason, pointer, mistake, signing_input: input } = answer;
  return (
    <section class="panel" aria-labelledby="found" role="status">
      <header>
        <h2 id="found">
          <Mark of={valid ? 'holds' : 'failed'} />{' '}
          {valid ? 'Its signature holds' : cleanText(message ?? 'It is refused', 500)}
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
          <b>Probably:</b> {cleanText(mistake, 500)}
        </p>
      )}
      <dl class="facts">
        {reason && (
          <Fact name="reason">
            <code>{cleanText(reason, 64)}</code>
          </Fact>
        )}
        {pointer && (
          <Fact name="where">
            <code>{cleanText(pointer, 200)}</code>
          </Fact>
        )}
        {answer.kind && <Fact name="taken as">{cleanText(answer.kind, 32)}</Fact>}
        {answer.skew_ms !== undefined && (
          <Fact name="signed">
            {formatMs(Math.abs(answer.skew_ms))} {answer.skew_ms < 0 ? 'before' : 'after'} the
            server's time
          </Fact>
        )}
        <Fact name="request" whole>
          {cleanText(request.method, 16)} {cleanText(answer.request_target ?? request.target, 200)}
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
          <Lines text={input} most={MOST_INPUT} />
          <p class="faint">Characters that draw nothing are shown as dots.</p>
        </>
      )}
    </section>
  );
}
