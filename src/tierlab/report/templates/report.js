"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const charts = [...document.querySelectorAll(".chart")];
  const root = document.documentElement;
  const shadeOf = { syn_retransmission: "wire", retransmission: "wire", finding: "finding" };
  const shadeName = { phase: "ramp-up, ramp-down", finding: "findings", wire: "retransmissions", other: "other events" };
  const spaced = new Set(["response", "visit", "driver"]); // none in a window is no gap in what was measured
  let range = [0, data.seconds];
  let following = false;

  const colour = (name) => getComputedStyle(root).getPropertyValue(`--${name}`).trim();

  const stretches = [
    { kind: "phase", start: 0, end: data.runtime[0] },
    { kind: "phase", start: data.runtime[1], end: data.seconds },
    ...data.shades.map((each) => ({ ...each, kind: shadeOf[each.kind] || "other" })),
  ].filter((each) => each.end > each.start || each.kind !== "phase");

  function shapes(panel) {
    const least = (range[1] - range[0]) * data.instant; // still seen, at any zoom
    const drawn = stretches.map((each) => ({
      type: "rect", xref: "x", yref: "paper", y0: 0, y1: 1, layer: "below", line: { width: 0 },
      x0: each.start, x1: Math.max(each.end, each.start + least), fillcolor: colour(`shade-${each.kind}`),
    }));
    if (panel.limit) {
      drawn.push({
        type: "line", xref: "paper", x0: 0, x1: 1, y0: panel.limit[0], y1: panel.limit[0],
        line: { color: colour("muted"), width: 1, dash: "dot" },
      });
    }
    return drawn;
  }

  function format(unit) {
    if (unit === "share") return { tickformat: ".0%", hoverformat: ".1%" };
    if (unit.startsWith("B")) return { tickformat: ".2s", hoverformat: ".3s", ticksuffix: unit };
    return { tickformat: ",~r", hoverformat: ",.4~g", ticksuffix: unit ? ` ${unit}` : "" };
  }

  function layout(panel, last) {
    const text = { color: colour("muted"), size: 11 };
    const drawn = {
      margin: { l: 62, r: 10, t: 4, b: last ? 32 : 18 }, showlegend: false, autosize: true,
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: colour("card"), font: text,
      hovermode: "x unified", dragmode: "zoom", shapes: shapes(panel),
      hoverlabel: { bgcolor: colour("page"), font: { color: colour("text") }, namelength: -1 }, // no cut in an entity
      xaxis: {
        range: [...range], gridcolor: colour("line"), zeroline: false, hoverformat: ".2f", ticksuffix: " s",
        title: last ? { text: "seconds since the trial's start", font: text, standoff: 6 } : undefined,
      },
      yaxis: {
        rangemode: "tozero", gridcolor: colour("line"), zeroline: false, fixedrange: true, nticks: 5,
        ...format(panel.unit),
      },
    };
    if (panel.orders) Object.assign(drawn.yaxis, { type: "log", rangemode: "normal", dtick: 1 });
    if (panel.unit === "share") {
      Object.assign(drawn.yaxis, { range: [0, 1.06], tickvals: [0, 0.5, 1], ticktext: ["0 %", "50 %", "100 %"] });
    }
    if (panel.limit) {
      drawn.annotations = [{
        text: panel.limit[1], xref: "paper", x: 1, y: panel.limit[0], showarrow: false, xanchor: "right", yanchor: "bottom", font: text,
      }];
    }
    return drawn;
  }

  // Plotly reads names as its own kind of HTML: a name that looks like it is to stay a name.
  const literal = (name) => name.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");

  function traces(panel) {
    return panel.lines.map((line) => ({
      type: "scatter", mode: "lines", name: literal(line.name), x: line.t, y: line.value, connectgaps: spaced.has(panel.key),
      line: { color: colour(line.colour), dash: line.dash, width: 1.3 },
    }));
  }

  function drawFlame(place) {
    const flame = data.flames.find((each) => each.event === Number(place.dataset.flame));
    const shades = ["c1", "c3", "c4", "c5"].map(colour);
    const shade = (name) => shades[[...name].reduce((sum, each) => (sum * 31 + each.codePointAt(0)) % 9973, 7) % shades.length];
    const trace = {
      type: "icicle", ids: flame.names.map((_, i) => String(i)), labels: flame.names.map(literal),
      parents: flame.parents.map((each) => (each < 0 ? "" : String(each))), values: flame.counts,
      branchvalues: "total", sort: false, tiling: { orientation: "v", flip: "y", pad: 1 }, pathbar: { visible: false },
      marker: { colors: flame.names.map(shade), line: { width: 0 } }, textposition: "middle left",
      hovertemplate: "%{label}<br>%{percentRoot:.2%} of all<extra></extra>", opacity: 0.85,
    };
    const drawn = {
      margin: { l: 0, r: 0, t: 4, b: 4 }, autosize: true, paper_bgcolor: "rgba(0,0,0,0)", font: { color: colour("text"), size: 11 },
      hoverlabel: { bgcolor: colour("page"), font: { color: colour("text") }, namelength: -1 }, uniformtext: { mode: "hide", minsize: 9 },
    };
    return Plotly.react(place, [trace], drawn, { displayModeBar: false, responsive: true });
  }

  const flames = [...document.querySelectorAll(".flame")];
  const panelOf = (chart) => data.panels[Number(chart.dataset.panel)];

  function draw(chart) {
    const panel = panelOf(chart);
    const last = chart === charts[charts.length - 1];
    return Plotly.react(chart, traces(panel), layout(panel, last), { displayModeBar: false, responsive: true });
  }

  function zoom(from, to) {
    range = [Math.max(0, from), Math.min(data.seconds, to)];
    following = true;
    const show = (chart) => Plotly.relayout(chart, { "xaxis.range": [...range], shapes: shapes(panelOf(chart)) });
    return Promise.all(charts.map(show)).finally(() => { following = false; });
  }

  function follow(change) {
    if (following) return;
    if (change["xaxis.autorange"]) zoom(0, data.seconds);
    else if ("xaxis.range" in change) zoom(...change["xaxis.range"]);
    else if ("xaxis.range[0]" in change) zoom(change["xaxis.range[0]"], change["xaxis.range[1]"]);
  }

  function legend() {
    const list = document.getElementById("shades");
    for (const kind of new Set(stretches.map((each) => each.kind))) {
      const item = document.createElement("li");
      const sample = document.createElement("i");
      sample.style.background = `var(--shade-${kind})`;
      item.append(sample, shadeName[kind]);
      list.append(item);
    }
  }

  async function start() {
    legend();
    for (const chart of charts) {
      await draw(chart);
      chart.on("plotly_relayout", follow);
      await new Promise((next) => setTimeout(next)); // the page stays alive between two charts
    }
    for (const place of flames) await drawFlame(place);
    for (const button of document.querySelectorAll("[data-from]")) {
      button.addEventListener("click", () => zoom(Number(button.dataset.from), Number(button.dataset.to)));
    }
    document.body.dataset.charts = "drawn";
  }

  const redraw = () => {
    charts.forEach((chart) => draw(chart));
    flames.forEach(drawFlame);
  };
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  window.addEventListener("beforeprint", () => { root.dataset.paper = ""; redraw(); });
  window.addEventListener("afterprint", () => { delete root.dataset.paper; redraw(); });
  start();
})();
