/** The nodes that keep the network, where several do: one of them is asked, again and again. */
import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { knows } from '../../data/store.js';
import { data } from './api.js';

export interface ClusterShown {
  /** The one that answers. */
  node: string;
  /** For how long it has not heard of the order; 0 as long as it does. */
  cut_off_ms: number;
  nodes: NodeShown[];
  /** Null where it did not answer in time. */
  etcd: { members: number; answering: number; leader: boolean } | null;
}

interface NodeShown {
  node: string;
  alive: boolean;
  /** When it began, or when it last told of itself. */
  since: string;
  batch: number;
  behind: number;
  entry: number;
  digest: string;
  version: string;
}

const EVERY_MS = 2_000;

/** Null where one process keeps it, and before a node has told. */
export const cluster = signal<ClusterShown | null>(null);

/** Keeps it up to date as long as somebody looks at the page. */
export function useCluster(): void {
  const several = knows('cluster');
  useEffect(() => {
    if (!several) return;
    let timer = 0;
    let wanted = true;
    const look = async () => {
      const found = document.hidden
        ? null
        : await data<ClusterShown>('/api/v1/cluster').catch(() => null);
      if (!wanted) return;
      if (found) cluster.value = found;
      timer = setTimeout(() => void look(), EVERY_MS);
    };
    void look();
    return () => {
      wanted = false;
      clearTimeout(timer);
    };
  }, [several]);
}
