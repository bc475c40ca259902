/** What a reader chose within a view: it is in the address, so that a link shows the same. */
import { place, setQuery } from './router.js';

type Choice<T> = [here: T, choose: (one: T) => void];

export function useChoice(name: string): Choice<string | null> {
  return [place.value.query.get(name), (value) => setQuery({ [name]: value })];
}

/** The first of them stands for an address that names none. */
export function useOneOf<T extends string>(name: string, all: readonly T[]): Choice<T> {
  const [value, choose] = useChoice(name);
  const here = all.find((one) => one === value) ?? all[0]!;
  return [here, (one) => choose(one === all[0] ? null : one)];
}

/** Whether one is among several that may be chosen together. */
export function useAmong(name: string, one: string): Choice<boolean> {
  const [value, choose] = useChoice(name);
  const all = new Set(value?.split('.') ?? []);
  const toggle = (is: boolean) => {
    if (is) all.add(one);
    else all.delete(one);
    choose(all.size === 0 ? null : [...all].join('.'));
  };
  return [all.has(one), toggle];
}

const PAGE = /^\d{1,6}$/;

/** From 0; readers count from 1. */
export function usePage(name = 'page'): Choice<number> {
  const [value, choose] = useChoice(name);
  const page = value !== null && PAGE.test(value) ? Math.max(0, Number(value) - 1) : 0;
  return [page, (one) => choose(one <= 0 ? null : String(one + 1))];
}
