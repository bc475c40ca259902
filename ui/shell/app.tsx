/** What is around every view: who and where above, the clock below, and what went wrong between. */
import { useSignalEffect } from '@preact/signals';
import { TimeBar } from '../clock/bar.js';
import { useKeys } from '../clock/keys.js';
import { network } from '../data/store.js';
import { useFocus } from '../parts/focus.js';
import { place } from '../route/router.js';
import { views } from '../views/index.js';
import { Announcer } from './announcer.js';
import { Bands } from './bands.js';
import { Header } from './header.js';
import { Stage } from './stage.js';

export function App() {
  useKeys();
  useFocus();
  useSignalEffect(() => {
    const view = views.find(({ path }) => path === (place.value.view || views[0]!.path));
    const parts = [view?.title ?? 'Not found', network.value?.network_id, 'Folkmoot'];
    document.title = parts.filter(Boolean).join(' · ');
  });
  return (
    <>
      <a class="skip" href="#view">
        Skip to the view
      </a>
      <Header />
      <Bands />
      <Stage />
      <TimeBar />
      <Announcer />
    </>
  );
}
