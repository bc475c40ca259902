/** A server in a process of its own, whose CPU time and memory can be asked for. */
export interface MeasuredServer {
  url: string;
  pid: number;
  /** CPU time of all its threads so far. */
  cpuSeconds(): Promise<number>;
  /** Resident memory. */
  residentBytes(): Promise<number>;
  stop(): Promise<void>;
}
