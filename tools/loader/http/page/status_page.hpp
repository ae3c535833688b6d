// The status page: one HTML document that needs no other file and no script.
#pragma once

#include <string>
#include <string_view>

#include "tools/loader/http/loader_view.hpp"

namespace keysieve {

// `nonce` allows its style, see content_security_policy(); another for each answer.
std::string status_page(const LoaderView& view, const std::string& nonce);

// Allows that style and the icon, and nothing else, so that text injected into the page could not load or
// run anything.
std::string content_security_policy(const std::string& nonce);

// How the status page looks: light or dark as the reader's system is, and on a telephone as well.
inline constexpr std::string_view kPageStyle = R"(
:root {
  --ground: #f4f5f7; --card: #fff; --ink: #1c2430; --soft: #5d6878; --line: #e2e6ec;
  --good: #217a48; --good-back: #e2f4e9; --notice: #8f5a00; --notice-back: #fdf0d5;
  --bad: #b3261e; --bad-back: #fce4e2; --bar: #5a86c5; --mean: #1c2430;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #11151b; --card: #1a2029; --ink: #e6eaf0; --soft: #98a4b5; --line: #2b3441;
    --good: #6fd39a; --good-back: #163325; --notice: #f0bb5c; --notice-back: #3a2c10;
    --bad: #ff8f85; --bad-back: #43201d; --bar: #6f9bdc; --mean: #e6eaf0;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; font-variant-numeric: tabular-nums; }
.top, main, footer { max-width: 68rem; margin: 0 auto; padding: 0 1.25rem; }
.top { padding-top: 1.75rem; padding-bottom: 1rem; }
.top p { margin: 0; }
h1 { margin: .1rem 0 .5rem; font-size: 1.9rem; line-height: 1.2; letter-spacing: -.015em; }
.top.notice h1 { color: var(--notice); }
.top.bad h1 { color: var(--bad); }
.host, .facts, .store, footer { color: var(--soft); }
.host b { color: var(--ink); }
.facts { font-size: .9rem; }
code { font: .92em ui-monospace, "DejaVu Sans Mono", monospace; overflow-wrap: anywhere; }
a { color: inherit; text-decoration-color: var(--soft); text-underline-offset: .2em; }
.badge { display: inline-block; padding: .1rem .6rem; border-radius: 1rem; font-size: .82rem; font-weight: 600;
  white-space: nowrap; background: var(--line); }
.badge.good { color: var(--good); background: var(--good-back); }
.badge.notice { color: var(--notice); background: var(--notice-back); }
.badge.bad { color: var(--bad); background: var(--bad-back); }
.badge.trouble { color: var(--notice); background: none; box-shadow: inset 0 0 0 1px currentColor; }
.stores { list-style: none; margin: 0 0 1rem; padding: 0; display: flex; flex-wrap: wrap; gap: .4rem 1.75rem; }
.stores p { margin: .2rem 0 0; color: var(--soft); font-size: .9rem; overflow-wrap: anywhere; }
.card, .overview { background: var(--card); border: 1px solid var(--line); border-radius: .7rem; }
.card { margin: 0 0 1.25rem; padding: 1.1rem 1.25rem 1.2rem; border-left: .3rem solid var(--good); scroll-margin: 1rem; }
.card.notice { border-left-color: var(--notice); }
.card.bad { border-left-color: var(--bad); }
.card header { display: flex; flex-wrap: wrap; align-items: center; gap: .3rem .7rem; }
h2 { margin: 0; font-size: 1.3rem; overflow-wrap: anywhere; }
.store { margin-left: auto; font-size: .9rem; }
.answer { margin: .35rem 0 0; }
.why { margin: .35rem 0 0; color: var(--soft); overflow-wrap: anywhere; }
.why b { color: var(--ink); font-weight: 600; }
.body { display: flex; flex-wrap: wrap; gap: 1.25rem 2rem; margin-top: 1rem; align-items: flex-start; }
.figures { flex: 3 1 26rem; display: grid; grid-template-columns: repeat(auto-fill, minmax(9.5rem, 1fr));
  gap: .9rem 1.2rem; margin: 0; align-self: flex-start; }
dt { color: var(--soft); font-size: .82rem; }
dd { margin: 0; font-size: 1.12rem; font-weight: 600; }
dd small { display: block; font-size: .82rem; font-weight: 400; color: var(--soft); }
meter { width: 3.2rem; height: .7rem; vertical-align: middle; }
figure { flex: 2 1 18rem; margin: 0; max-width: 26rem; }
figcaption { color: var(--soft); font-size: .82rem; }
.shards { display: block; width: 100%; height: auto; }
.shards text { font-size: 10px; fill: var(--soft); }
.bar { fill: var(--bar); }
.axis { stroke: var(--line); }
.mean { stroke: var(--mean); stroke-dasharray: 2 2; opacity: .55; }
h3 { margin: 1.2rem 0 .3rem; font-size: .82rem; font-weight: 600; color: var(--soft); }
table { width: 100%; border-collapse: collapse; }
th { text-align: left; font-weight: 600; }
thead th { color: var(--soft); font-size: .82rem; font-weight: 400; }
td, th { padding: .3rem .9rem .3rem 0; vertical-align: baseline; }
.n { text-align: right; white-space: nowrap; }
.n:last-child { padding-right: 0; }
.history { font-size: .92rem; }
.history tbody tr:not(.reason) td { border-top: 1px solid var(--line); }
.history .refused td:nth-child(2) { color: var(--bad); font-weight: 600; }
.history .reason td { padding-top: 0; color: var(--soft); overflow-wrap: anywhere; }
details { margin-top: .4rem; }
summary { cursor: pointer; color: var(--soft); font-size: .92rem; }
.overview { margin: 0 0 1.5rem; border-collapse: separate; border-spacing: 0; overflow: hidden; }
.overview td, .overview th { padding: .5rem 1rem; border-top: 1px solid var(--line); }
.overview thead th { border-top: 0; }
.overview .n:last-child { padding-right: 1rem; }
footer { padding-top: .25rem; padding-bottom: 2.5rem; font-size: .9rem; }
footer a { margin-left: .8rem; }
@media (max-width: 40rem) {
  body { font-size: 14.5px; }
  .top, main, footer { padding-left: .8rem; padding-right: .8rem; }
  h1 { font-size: 1.5rem; }
  .wide { display: none; }
  .card { padding: .9rem .95rem 1rem; }
  .figures { grid-template-columns: repeat(2, 1fr); flex-basis: 100%; }
  figure { flex-basis: 100%; }
  .store { margin-left: 0; }
  .overview td, .overview th { padding: .45rem .6rem; }
}
)";

}  // namespace keysieve
