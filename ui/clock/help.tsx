/** The list of keys. */
import { signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';

export const helpShown = signal(false);

export const showHelp = (shown: boolean) => {
  helpShown.value = shown;
};

const keyNames: readonly [string, string][] = [
  ['space', 'pause, or go on'],
  [', and .', 'one event back, one on'],
  ['[ and ]', 'to the block before, to the next'],
  ['l', 'live: with the network'],
  ['/', 'find an agent'],
  ['f', 'fill the screen'],
  ['?', 'this list'],
];

export function Help() {
  const dialog = useRef<HTMLDialogElement>(null);
  const shown = helpShown.value;
  useEffect(() => {
    if (shown) dialog.current?.showModal();
    else dialog.current?.close();
  }, [shown]);
  return (
    <dialog ref={dialog} aria-labelledby="keys" onClose={() => showHelp(false)}>
      <h2 id="keys">Keys</h2>
      <dl class="keys">
        {keyNames.map(([key, does]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <form method="dialog">
        <button type="submit" class="button">
          Close
        </button>
      </form>
    </dialog>
  );
}
