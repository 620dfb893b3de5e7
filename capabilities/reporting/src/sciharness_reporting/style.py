"""The style sheet of the HTML report."""

from __future__ import annotations

STYLE = """
:root {
  --page: #fbfaf8; --card: #ffffff; --ink: #1d2430; --soft: #5a6473; --rule: #dfe2e7;
  --tint: #f1f2f4; --one: #2361a8; --two: #c2541b;
  --good: #17703f; --good-tint: #e7f4ec; --bad: #b02a2a; --bad-tint: #fbebea;
  --warn: #855600; --warn-tint: #fdf3dc;
  --serif: Charter, "Bitstream Charter", "Sitka Text", Cambria, Georgia, serif;
  --sans: system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
  --mono: ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, "Liberation Mono", monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #12151a; --card: #191d24; --ink: #e5e8ed; --soft: #9da7b5; --rule: #303743;
    --tint: #20252e; --one: #82b5f2; --two: #f0a06c;
    --good: #6fd19b; --good-tint: #14291e; --bad: #f2918c; --bad-tint: #321a1b;
    --warn: #e8bd62; --warn-tint: #2e2614;
  }
}
* { box-sizing: border-box; }
html { scroll-behavior: smooth; -webkit-text-size-adjust: 100%; }
body {
  margin: 0; background: var(--page); color: var(--ink);
  font: 1.0625rem/1.6 var(--serif); overflow-wrap: break-word;
}
a { color: var(--one); text-underline-offset: 0.15em; }
:focus-visible { outline: 2px solid var(--one); outline-offset: 2px; }
.skip { position: absolute; left: -99rem; }
.skip:focus {
  left: 1rem; top: 1rem; background: var(--card); padding: 0.4rem 0.8rem; z-index: 1;
}
header, .page { max-width: 68rem; margin: 0 auto; padding: 0 1.5rem; }
header { padding-top: 3.5rem; padding-bottom: 1.5rem; }
.kicker {
  margin: 0; font: 600 0.8125rem/1.4 var(--sans); color: var(--soft); letter-spacing: 0.02em;
}
h1 {
  margin: 0.4rem 0 0; font-size: 2.35rem; line-height: 1.15; letter-spacing: -0.015em;
  font-weight: 700; text-wrap: balance;
}
.lead {
  margin: 0.9rem 0 0; font-size: 1.1875rem; color: var(--soft); max-width: 50rem;
  white-space: pre-line; text-wrap: pretty;
}
.page { padding-bottom: 5rem; }
nav { display: none; }
main > section { padding-top: 1px; }
h2 {
  margin: 2.6rem 0 1rem; padding-top: 1.1rem; border-top: 1px solid var(--rule);
  font-size: 1.45rem; line-height: 1.25; letter-spacing: -0.01em;
}
p, ul { margin: 0.8rem 0; max-width: 44rem; }
ul { padding-left: 1.2rem; }
li { margin: 0.35rem 0; }
p.note { color: var(--soft); font-size: 0.9688rem; }
p.warn {
  background: var(--warn-tint); border-left: 3px solid var(--warn); padding: 0.6rem 0.9rem;
}
code, pre { font-family: var(--mono); font-size: 0.875em; font-variant-ligatures: none; }
code {
  background: var(--tint); border-radius: 3px; padding: 0.08em 0.3em;
}
pre {
  margin: 0; padding: 0.8rem 1rem; background: var(--tint); border-radius: 6px; overflow: auto;
  max-height: 34rem; font-size: 0.8125rem; line-height: 1.5;
}
pre code { background: none; padding: 0; font-size: inherit; overflow-wrap: normal; }
.verdict {
  display: flex; gap: 1.1rem; align-items: flex-start; padding: 1.3rem 1.5rem;
  border-radius: 10px; border: 1px solid; margin-bottom: 1.2rem;
}
.verdict p { margin: 0.25rem 0 0; max-width: 46rem; }
.verdict .headline {
  margin: 0; font-size: 1.5rem; line-height: 1.25; font-weight: 700; letter-spacing: -0.01em;
}
.verdict .sign {
  flex: none; width: 2rem; height: 2rem; border-radius: 50%; color: var(--card);
  font: 700 1.15rem/2rem var(--sans); text-align: center;
}
.verdict.good { background: var(--good-tint); border-color: var(--good); }
.verdict.good .headline { color: var(--good); } .verdict.good .sign { background: var(--good); }
.verdict.bad { background: var(--bad-tint); border-color: var(--bad); }
.verdict.bad .headline { color: var(--bad); } .verdict.bad .sign { background: var(--bad); }
.verdict.warn { background: var(--warn-tint); border-color: var(--warn); }
.verdict.warn .headline { color: var(--warn); } .verdict.warn .sign { background: var(--warn); }
.verdict code { background: none; padding: 0; }
.badge {
  display: inline-block; font: 600 0.75rem/1 var(--sans); padding: 0.28em 0.55em;
  border-radius: 999px; border: 1px solid var(--rule); color: var(--soft);
  background: var(--card); white-space: nowrap; vertical-align: 0.08em;
}
.badge.good { color: var(--good); border-color: currentColor; }
.badge.bad { color: var(--bad); border-color: currentColor; }
.badge.warn { color: var(--warn); border-color: currentColor; }
.badge.trusted { color: var(--card); background: var(--good); border-color: var(--good); }
.table { overflow-x: auto; margin: 1.2rem 0; }
table {
  border-collapse: collapse; min-width: min(100%, 34rem); font: 0.9063rem/1.45 var(--sans);
  font-variant-numeric: tabular-nums;
}
caption { text-align: left; font: 600 0.9063rem/1.4 var(--sans); padding-bottom: 0.5rem; }
th, td {
  text-align: left; padding: 0.5rem 1.1rem 0.5rem 0; border-bottom: 1px solid var(--rule);
  vertical-align: top;
}
th {
  font-weight: 600; color: var(--soft); font-size: 0.8125rem; white-space: nowrap;
  vertical-align: bottom;
}
thead th { border-bottom-color: var(--soft); }
th:last-child, td:last-child { padding-right: 0.4rem; }
th.num, td.num { text-align: right; white-space: nowrap; }
tr.marked td { background: var(--tint); }
tr.marked td:first-child { box-shadow: inset 3px 0 var(--one); }
th:first-child, td:first-child { padding-left: 0.6rem; }
td code { font-size: 0.8438rem; white-space: nowrap; }
code.long, td code.long { white-space: normal; overflow-wrap: anywhere; }
dl {
  display: grid; grid-template-columns: minmax(9rem, max-content) 1fr; gap: 0.4rem 1.4rem;
  margin: 1rem 0; font-size: 0.9688rem;
}
dt { font: 600 0.875rem/1.7 var(--sans); color: var(--soft); }
dd { margin: 0; max-width: 44rem; font: 0.9375rem/1.6 var(--sans); }
figure { margin: 1.4rem 0; }
figcaption {
  font: 0.875rem/1.5 var(--sans); color: var(--soft); margin-top: 0.5rem; max-width: 44rem;
}
.figures.n2 {
  display: grid; grid-template-columns: repeat(auto-fit, minmax(min(20rem, 100%), 1fr));
  gap: 0 1.6rem;
}
figure.plot img { display: block; max-width: 100%; height: auto; margin: 0 auto; background: #fff; }
figure.plot {
  background: var(--card); border: 1px solid var(--rule); border-radius: 10px;
  padding: 1rem 1rem 0.9rem; min-width: 0;
}
svg.plot { display: block; width: 100%; height: auto; max-width: 44rem; margin: 0 auto; }
svg.plot .paper { fill: none; }
svg.plot .fill.ink { fill: var(--ink); } svg.plot .line.ink { stroke: var(--ink); }
svg.plot .fill.soft { fill: var(--soft); } svg.plot .line.soft { stroke: var(--soft); }
svg.plot .line.rule { stroke: var(--rule); }
svg.plot .fill.one { fill: var(--one); } svg.plot .line.one { stroke: var(--one); }
svg.plot .fill.two { fill: var(--two); } svg.plot .line.two { stroke: var(--two); }
figure.formula {
  background: var(--card); border: 1px solid var(--rule); border-radius: 10px; overflow: hidden;
}
.typeset { overflow-x: auto; padding: 1.6rem 1.2rem; font-size: 1.35rem; }
figure.formula pre {
  border-radius: 0; border-top: 1px solid var(--rule); white-space: pre-wrap;
  overflow-wrap: anywhere;
}
figure.formula figcaption {
  padding: 0 1rem 0.9rem; background: var(--tint); margin: 0; max-width: none;
}
math { font-family: "STIX Two Math", "Latin Modern Math", "Cambria Math", math; }
mtable mtd:first-child { text-align: right; padding-right: 0.25em; }
mtable mtd { text-align: left; }
mtable mtr + mtr mtd { padding-top: 0.5em; }
.spark { display: block; } .spark rect { fill: var(--one); }
.meter {
  display: inline-block; width: 5.5rem; height: 0.5rem; border-radius: 999px;
  background: var(--tint); border: 1px solid var(--rule); overflow: hidden;
  vertical-align: 0.05em;
}
.meter span { display: block; height: 100%; background: var(--soft); }
.meter.good span { background: var(--good); } .meter.bad span { background: var(--bad); }
details { margin: 1rem 0; }
summary { cursor: pointer; font: 600 0.9063rem/1.6 var(--sans); color: var(--one); }
details pre { margin-top: 0.6rem; }
@media (min-width: 84rem) {
  header, .page { max-width: 82rem; }
  .page { display: grid; grid-template-columns: 12.5rem minmax(0, 1fr); gap: 3.5rem; }
  header { padding-left: calc(12.5rem + 5rem); }
  nav {
    display: block; position: sticky; top: 2rem; align-self: start;
    font: 0.875rem/1.45 var(--sans);
  }
  nav ol { list-style: none; margin: 0; padding: 0; }
  nav li { margin: 0 0 0.55rem; }
  nav a { color: var(--soft); text-decoration: none; }
  nav a:hover { color: var(--one); text-decoration: underline; }
}
@media (max-width: 40rem) {
  body { font-size: 1rem; }
  header, .page { padding-left: 1rem; padding-right: 1rem; }
  header { padding-top: 1.8rem; }
  h1 { font-size: 1.75rem; }
  .verdict { padding: 1rem; gap: 0.8rem; }
  .verdict .headline { font-size: 1.25rem; }
  dl { grid-template-columns: 1fr; gap: 0 0; }
  dd { margin-bottom: 0.6rem; }
  .typeset { font-size: 1.1rem; padding: 1.1rem 0.8rem; }
  figure.plot { padding: 0.6rem; }
}
@media print {
  :root {
    --page: #fff; --card: #fff; --ink: #000; --soft: #444; --rule: #bbb; --tint: #f4f4f4;
    --one: #2361a8; --two: #c2541b; --good: #17703f; --good-tint: #fff; --bad: #b02a2a;
    --bad-tint: #fff; --warn: #855600; --warn-tint: #fff;
  }
  body { font-size: 10.5pt; }
  header, .page { max-width: none; padding-left: 0; padding-right: 0; display: block; }
  header { padding-top: 0; }
  nav, .skip { display: none; }
  h2 { break-after: avoid; }
  figure, tr, .verdict { break-inside: avoid; }
  .table, pre { overflow: visible; max-height: none; }
  pre { white-space: pre-wrap; }
  * { -webkit-print-color-adjust: exact; print-color-adjust: exact; }
}
"""
