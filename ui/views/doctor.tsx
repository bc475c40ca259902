/** The Request doctor view: the server verifies the signature on a pasted request. */
import { useState } from 'preact/hooks';
import type { AnswerOf } from '../../api/contract/route.js';
import type { serverRoutes } from '../../api/contract/server.js';
import { formatMs } from '../../report/shared/format.js';
import { cleanText, toSentence } from '../components/labels.js';
import { Fact, Lines, Mark } from '../components/lists.js';
import { fetchPath } from '../components/requests.js';
import { type DescribedRequest, encodeRequest, parseRequest } from './doctor-request.js';

type Verification = AnswerOf<(typeof serverRoutes)['debug_verify']>;

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
    try {
      const request = parseRequest(text);
      set({ is: 'asking' });
      const answer = await fetchPath('/api/v1/debug/verify', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: encodeRequest(request),
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
          Request doctor <span class="faint">checks the signature of a refused request</span>
        </h1>
      </header>
      <form
        class="panel"
        onSubmit={(event) => {
          event.preventDefault();
          void ask();
        }}
      >
        <label for="request">
          <b>Request</b>{' '}
          <span class="faint">
            Paste a curl command, a raw HTTP request, or JSON with method, target, headers and body.
            The check changes nothing. Do not paste a private key.
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
            {state.is === 'asking' ? 'Checking …' : 'Check request'}
          </button>
        </p>
      </form>
      {state.is === 'failed' && (
        <p class="panel" role="alert">
          {toSentence(state.why)}
        </p>
      )}
      {state.is === 'answered' && <Found request={state.request} answer={state.answer} />}
    </div>
  );
}

const MOST_INPUT = 6_000;

const Code = ({ of, ...fact }: { name: string; of: string | null | undefined; whole?: boolean }) =>
  of ? (
    <Fact {...fact}>
      <code>{cleanText(of, 200)}</code>
    </Fact>
  ) : null;

function Found({ request, answer }: { request: DescribedRequest; answer: Verification }) {
  const { valid, message, reason, pointer, mistake, signing_input: input } = answer;
  return (
    <section class="panel" aria-labelledby="found" role="status">
      <header>
        <h2 id="found">
          <Mark of={valid ? 'holds' : 'failed'} />{' '}
          {valid ? 'Valid signature' : toSentence(cleanText(message ?? 'request refused', 500))}
        </h2>
      </header>
      {valid && (
        <p>
          If the request was refused, the signature was not the cause. See <code>reason</code> in
          the response.
        </p>
      )}
      {mistake && (
        <p>
          <b>Likely cause:</b> {cleanText(mistake, 500)}
        </p>
      )}
      <dl class="facts">
        <Code name="reason" of={reason} />
        <Code name="pointer" of={pointer} />
        {answer.kind && <Fact name="request kind">{cleanText(answer.kind, 32)}</Fact>}
        {answer.skew_ms !== undefined && (
          <Fact name="timestamp">
            {formatMs(Math.abs(answer.skew_ms))} {answer.skew_ms < 0 ? 'before' : 'after'} server
            time
          </Fact>
        )}
        <Fact name="request" whole>
          {cleanText(request.method, 16)} {cleanText(answer.request_target ?? request.target, 200)}
        </Fact>
        <Code name="SHA-256 of the signing input" of={answer.expected_input_sha256} whole />
        <Code name="SHA-256 of the body" of={answer.body_sha256} whole />
      </dl>
      {input !== undefined && (
        <>
          <h3>Signing input, UTF-8</h3>
          <Lines text={input} most={MOST_INPUT} />
          <p class="faint">Invisible characters are shown as dots.</p>
        </>
      )}
    </section>
  );
}
