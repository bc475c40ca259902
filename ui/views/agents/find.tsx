/** Finds an agent by the beginning of its name or id. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { finding } from '../../clock/keys.js';
import { agents } from '../../data/store.js';
import { nameOf } from '../../parts/grid/words.js';

const MOST = 8;

export function Find({ onFind }: { onFind: (number: number) => void }) {
  const [text, setText] = useState('');
  const field = useRef<HTMLInputElement>(null);
  const wanted = finding.value;
  useEffect(() => {
    if (!wanted) return;
    // After the shell, which gives the focus to a view that begins.
    const timer = setTimeout(() => {
      field.current!.focus();
      finding.value = false;
    });
    return () => clearTimeout(timer);
  }, [wanted]);
  const found = text.trim() === '' ? [] : matches(text.trim().toLowerCase());
  const take = (number: number) => {
    setText('');
    field.current!.focus();
    onFind(number);
  };
  return (
    <form
      class="find"
      onSubmit={(event) => {
        event.preventDefault();
        if (found[0] !== undefined) take(found[0]);
      }}
    >
      <label>
        <span class="unseen">Find an agent by name or id</span>
        <input
          ref={field}
          type="search"
          placeholder="Find an agent"
          maxLength={128}
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
      </label>
      {text.trim() !== '' && (
        <ul class="found">
          {found.length === 0 && <li class="faint">Nobody is called that.</li>}
          {found.map((number) => (
            <li key={number}>
              <button type="button" onClick={() => take(number)}>
                <bdi>{nameOf(number)}</bdi>{' '}
                <span class="faint">{agents.rows[number]!.personality}</span>
              </button>
            </li>
          ))}
        </ul>
      )}
    </form>
  );
}

function matches(text: string): number[] {
  const found: number[] = [];
  for (let number = 0; number < agents.count.value && found.length < MOST; number += 1) {
    const { name, id } = agents.rows[number]!;
    if (name.toLowerCase().includes(text) || id.startsWith(text)) found.push(number);
  }
  return found;
}
