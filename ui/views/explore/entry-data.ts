/** An entry of the log as the server shows it. */
export interface EntryData {
  entry: number;
  at: number;
  kind: string;
  /** Who asked; '' for what nobody asked for. */
  agent_id: string;
  /** As it was sent. */
  body: string;
  events: { seq: number; type: string; data: unknown }[];
  digest: string;
  log_digest: string;
}
