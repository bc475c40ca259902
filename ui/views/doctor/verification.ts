/** What the server says of a request that it was shown. */
export interface Verification {
  valid: boolean;
  kind?: string;
  signing_input?: string;
  expected_input_sha256?: string;
  body_sha256?: string;
  request_target?: string;
  server_time?: string;
  skew_ms?: number;
  code?: string;
  reason?: string;
  message?: string;
  pointer?: string | null;
  mistake?: string;
}
