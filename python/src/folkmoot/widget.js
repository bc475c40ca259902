/**
 * The page of a run in a notebook cell, by anywidget's convention. The page is an exported file,
 * with scripts and texts of agents, so its frame has no access to the notebook.
 */
function render({ model, el }) {
  const frame = document.createElement('iframe');
  frame.setAttribute('sandbox', 'allow-scripts');
  frame.title = 'Page of a run';
  frame.style.cssText = 'width: 100%; border: 1px solid #8884;';
  const show = () => {
    frame.style.height = `${model.get('height')}px`;
    frame.srcdoc = model.get('html');
  };
  show();
  model.on('change:html', show);
  el.append(frame);
  return () => {
    model.off('change:html', show);
    frame.remove();
  };
}

export default { render };
