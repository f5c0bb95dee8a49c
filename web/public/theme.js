// Before the first paint: the theme that was chosen, or else the system's.
(function () {
  var chosen = null;
  try {
    chosen = localStorage.getItem("awo-theme");
  } catch (refused) {
    // Without storage the system decides.
  }
  var dark =
    chosen === "dark" || (chosen !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.dataset.theme = dark ? "dark" : "light";
})();
