/** Answers of the worker about the entry that is shown, asked again when that is another. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { ask } from '../../data/connect.js';
import { position } from '../../data/store.js';

/** While a network runs, its picture changes many times a second; a view need not. */
const LEAST_MS = 500;

/** Null until the first answer; `parameters` are read when it asks. */
export function useAsked<T>(name: string, parameters: () => unknown, key: string): T | null {
  const [answer, set] = useState<T | null>(null);
  const entry = position.value?.entry ?? -1;
  const asked = useRef(0);
  useEffect(() => {
    let wanted = true;
    const wait = Math.max(0, asked.current + LEAST_MS - performance.now());
    const timer = setTimeout(() => {
      asked.current = performance.now();
      ask<T>(name, parameters()).then(
        (got) => wanted && set(got),
        // The worker says aloud what is wrong with the network; the picture before stays.
        () => undefined,
      );
    }, wait);
    return () => {
      clearTimeout(timer);
      wanted = false;
    };
  }, [name, key, entry]);
  return answer;
}
