/** Begins the page: the look, the wire to the worker, and the shell around the views. */
import { render } from 'preact';
import '../look/page.css';
import { takeToken } from '../clock/token.js';
import { connect } from '../data/connect.js';
import { entryInAddress, followLinks } from '../route/router.js';
import { App } from './app.js';

export function begin(): void {
  takeToken();
  followLinks();
  connect(entryInAddress());
  render(<App />, document.getElementById('page')!);
}
