// Before the page's code is here: keeps what is pressed, so that the page can take it up
// (src/app/typed-ahead.ts). Without it the first letters after Ctrl+K would be lost, and the others
// be taken for shortcuts.
(function () {
  var MOST = 200;
  var presses = [];
  var palette = false;
  function writes(element) {
    return (
      element && (element.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(element.tagName))
    );
  }
  function keep(event) {
    if (event.isComposing || writes(event.target) || presses.length >= MOST) return;
    var held = event.ctrlKey || event.metaKey;
    if (held && event.key.toLowerCase() === "k") palette = true;
    // Neither the browser's own search nor its scrolling by the space bar.
    if (palette && (!held || event.key.toLowerCase() === "k")) event.preventDefault();
    presses.push({
      key: event.key,
      ctrlKey: event.ctrlKey,
      metaKey: event.metaKey,
      altKey: event.altKey,
      shiftKey: event.shiftKey,
      repeat: event.repeat,
      at: event.timeStamp,
    });
  }
  addEventListener("keydown", keep, true);
  window.awoTypedAhead = {
    presses: presses,
    stop: function () {
      removeEventListener("keydown", keep, true);
    },
  };
})();
