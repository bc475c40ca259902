/** The way to the documents of the interface, where somebody serves them. */
import { home } from '../home/home.js';

export const Reference = () =>
  home.docs ? <a href={home.docs}>the reference</a> : <>the reference</>;
