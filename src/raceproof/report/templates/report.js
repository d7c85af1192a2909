(() => {
  const root = document.documentElement;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const saved = (() => { try { return localStorage.getItem("raceproof-theme"); } catch { return null; } })();
  root.dataset.theme = saved || (dark.matches ? "dark" : "light");
  document.getElementById("theme").addEventListener("click", () => {
    root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark";
    try { localStorage.setItem("raceproof-theme", root.dataset.theme); } catch { /* a page from a file may not store */ }
  });

  const findings = [...document.querySelectorAll(".finding")];
  const search = document.getElementById("search");
  const chips = [...document.querySelectorAll(".chip")];
  const none = document.getElementById("none");
  const show = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const pressed = chips.filter((chip) => chip.getAttribute("aria-pressed") === "true");
    const wanted = new Set(pressed.map((chip) => chip.dataset.confidence));
    const rules = new Set(pressed.map((chip) => chip.dataset.rule));
    const byRule = chips.some((chip) => chip.dataset.rule);
    let shown = 0;
    for (const finding of findings) {
      const fits = wanted.has(finding.dataset.confidence) && (!byRule || rules.has(finding.dataset.rule)) && words.every((word) => finding.dataset.text.includes(word));
      finding.hidden = !fits;
      shown += fits;
    }
    none.hidden = shown > 0;
  };
  if (search) {
    search.addEventListener("input", show);
    for (const chip of chips) chip.addEventListener("click", () => {
      chip.setAttribute("aria-pressed", chip.getAttribute("aria-pressed") !== "true");
      show();
    });
    const all = document.getElementById("all");
    all.addEventListener("click", () => {
      const open = all.getAttribute("aria-expanded") !== "true";
      for (const finding of findings) finding.open = open;
      all.setAttribute("aria-expanded", open);
      all.textContent = open ? "Close all" : "Open all";
    });
  }

  const filter = document.getElementById("filter");
  if (filter) filter.addEventListener("input", () => {
    const word = filter.value.toLowerCase();
    for (const row of document.querySelectorAll("#protections tbody tr")) row.hidden = !row.textContent.toLowerCase().includes(word);
  });

  const follow = () => {
    const target = location.hash && document.getElementById(location.hash.slice(1));
    if (!target) return;
    for (let outer = target; outer; outer = outer.parentElement) if (outer instanceof HTMLDetailsElement) outer.open = true;
    target.scrollIntoView({ block: target.classList.contains("line") ? "center" : "start" });
  };
  addEventListener("hashchange", follow);
  follow();
})();
