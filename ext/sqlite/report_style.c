/*
** The report's CSS, a string for each group of rules.  Everything is sized in the page
** itself: no font, picture or file is asked for.
*/
#include "report.h"

/* clang-format off */
const char *const report_style[] = {
    /* Colours, light and dark: --near shades what is too close to call, wherever it is shown. */
    ":root{color-scheme:light dark;--paper:#fff;--ink:#1b1f24;--soft:#57606a;--line:#d8dee4;\n"
    "--mark:#0b5fa5;--band:#a9cbe9;--near:#ffedc4;--likely:#fff9e9;--grid:#7a86932e;\n"
    "--open:#f3b545;--single:#fbdfa6;--apart:#e9edf1;\n"
    "--on-open:#1b1f24;--on-apart:#57606a}\n"
    "@media (prefers-color-scheme:dark){:root{--paper:#14181d;--ink:#e6edf3;--soft:#9aa4af;\n"
    "--line:#2f363d;--mark:#8cc8ff;--band:#2b5278;--near:#3d300e;--likely:#211d14;--grid:#9aa4af38;\n"
    "--open:#b97d0e;--single:#5f4712;\n"
    "--apart:#22292f;--on-open:#fff;--on-apart:#9aa4af}}\n",

    "*{box-sizing:border-box}\n"
    "body{margin:0 auto;padding:1rem;max-width:70rem;background:var(--paper);color:var(--ink);\n"
    "font:16px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif}\n"
    "h1{font-size:1.6rem;margin:.5rem 0 0;overflow-wrap:anywhere}\n"
    "h2{font-size:1.2rem;margin:2.5rem 0 .5rem}\n"
    "h3{font-size:.95rem;margin:0;overflow-wrap:anywhere}\n"
    "p,ul{max-width:46rem}li{margin:.4rem 0}ul{padding-left:1.2rem}\n"
    ".soft{color:var(--soft)}.said{overflow-wrap:anywhere}\n"
    "#summary{font-size:1.2rem;line-height:1.45;margin:.6rem 0}\n"
    ".note{border-left:3px solid var(--line);padding-left:.8rem}\n",

    /* Keys to the colours */
    ".key{font-size:.85rem;color:var(--soft)}\n"
    ".key span{display:inline-block;padding:0 .4rem;margin:.1rem .3rem .1rem 0;border-radius:3px;\n"
    "print-color-adjust:exact;-webkit-print-color-adjust:exact}\n"
    ".key .near{background:var(--near);color:var(--ink)}\n"
    ".key .likely{background:var(--likely);color:var(--ink)}\n",

    /* Tables */
    "table{border-collapse:collapse;width:100%;font-size:.875rem;font-variant-numeric:tabular-nums;\n"
    "margin:.5rem 0}\n"
    "th,td{padding:.3rem .8rem .3rem 0;text-align:right;white-space:nowrap;\n"
    "border-bottom:1px solid var(--line)}\n"
    "td:first-child,th:first-child{padding-left:.4rem}\n"
    "th{color:var(--soft);font-weight:600;vertical-align:bottom;white-space:normal}th.level{white-space:nowrap}\n"
    "th.end{min-width:5.5rem}\n"
    ".plotted thead{position:sticky;top:0;z-index:1;background:var(--paper);\n"
    "box-shadow:0 1px var(--line)}\n"
    "tr.near td,tr.likely td{print-color-adjust:exact;-webkit-print-color-adjust:exact}\n"
    "tr.near td{background:var(--near)}tr.likely td{background:var(--likely)}\n"
    ".name{text-align:left;white-space:normal;overflow-wrap:anywhere;min-width:10rem;max-width:18rem}\n"
    "#leaderboard .name{width:18rem}.text{text-align:left}\n"
    ".narrow{width:auto}.wide{overflow-x:auto}\n"
    "th.by{cursor:pointer}th.by:hover{color:var(--ink)}\n"
    "th[aria-sort=ascending]::after{content:' \\25B2'}\n"
    "th[aria-sort=descending]::after{content:' \\25BC'}\n",

    /* An interval: a band with ends that are higher than the dot. */
    ".picture{width:32%;min-width:12rem;padding:.3rem 2rem .3rem .8rem}\n"
    ".two .picture{width:22%;min-width:10rem}\n"
    ".plot,.numbers{display:block;position:relative;height:1.1rem}td.picture,.row{clip-path:inset(0)}\n"
    ".plot::before{content:'';position:absolute;inset:-9rem 0;\n"
    "background:repeating-linear-gradient(to right,var(--grid) 0 1px,\n"
    "transparent 1px calc((100% - 1px)/var(--n)));\n"
    "print-color-adjust:exact;-webkit-print-color-adjust:exact}\n"
    ".plot i{position:absolute;top:calc(50% - 7px);height:14px;min-width:2px;\n"
    "border:solid var(--mark);border-width:0 2px;\n"
    "background:linear-gradient(var(--band),var(--band)) center/100% 8px no-repeat}\n"
    ".plot b{position:absolute;top:calc(50% - 1px);border-top:2px dotted var(--mark)}\n"
    ".plot u{position:absolute;top:calc(50% - 3.5px);width:7px;height:7px;margin-left:-3.5px;\n"
    "border-radius:50%;background:var(--mark)}\n"
    ".plot s{position:absolute;top:-9rem;bottom:-9rem;border-left:1px solid var(--soft)}\n"
    ".numbers span{position:absolute;transform:translateX(-50%);font-weight:400;font-size:.75rem}\n",

    /* The triangle */
    "#triangle{display:grid;grid-template-columns:minmax(5rem,14rem) repeat(var(--m),minmax(0,3.2rem));\n"
    "gap:2px;font-size:.8rem;line-height:1.6rem;text-align:center;margin:.5rem 0;\n"
    "font-variant-numeric:tabular-nums}\n"
    "#triangle>span{text-align:left;min-height:1.2em;padding-right:.5rem;line-height:1.2;align-self:center;\n"
    "overflow-wrap:anywhere}\n"
    "#triangle b,#triangle em{color:var(--soft);font-weight:600}\n"
    "#triangle i{font-style:normal;min-width:0;overflow:hidden;align-content:center;\n"
    "print-color-adjust:exact;-webkit-print-color-adjust:exact}\n"
    "#triangle em{font-style:normal;min-width:0;line-height:1.2}\n"
    "#triangle .none{background:repeating-linear-gradient(45deg,var(--line) 0 1px,transparent 1px 5px)}\n"
    ".open{background:var(--open);color:var(--on-open)}\n"
    ".single{background:var(--single);color:var(--ink)}\n"
    ".apart{background:var(--apart);color:var(--on-apart)}\n"
    "#triangle.tight{grid-template-columns:13rem repeat(var(--m),minmax(0,3.2rem));\n"
    "font-size:.72rem;line-height:1.35rem;gap:1px}\n",

    /* Panels of tasks; the bold type of the best takes no more room, so that panels are laid out
    ** alike. */
    ".panels{display:grid;grid-template-columns:repeat(auto-fill,minmax(19rem,1fr));\n"
    "gap:1.25rem 2rem;margin:1rem 0}.panel{min-width:0}\n"
    ".panel .numbers span:not(:first-child):not(:last-child){display:none}\n"
    ".row{display:grid;grid-template-columns:minmax(0,9rem) minmax(0,1fr) 3.4rem;gap:.75rem;\n"
    "align-items:center;font-size:.8rem;font-variant-numeric:tabular-nums}\n"
    ".row>:first-child{overflow-wrap:anywhere;line-height:1.2;padding:.1rem 0}\n"
    ".row>:last-child{text-align:right}.best>:last-child{font-weight:700}\n"
    ".best>:first-child{text-shadow:.04em 0 currentColor}\n"
    "details{margin:.75rem 0}summary{cursor:pointer;color:var(--soft)}\n"
    "button{font:inherit;font-size:.8rem;color:var(--soft);background:none;padding:.1rem .6rem;\n"
    "border:1px solid var(--line);border-radius:4px;cursor:pointer}\n"
    "button:hover{color:var(--ink)}\n",

    /* On a phone a row of a table has two lines: the model, and its picture. */
    "@media (max-width:44rem){\n"
    "h2{margin-top:2rem}#summary{font-size:1.1rem}\n"
    "table.plotted,.plotted thead,.plotted tbody{display:block}\n"
    ".plotted tr{display:grid;grid-template-columns:3.2rem minmax(0,1fr) auto;\n"
    "border-bottom:1px solid var(--line);padding:.35rem .2rem}\n"
    ".plotted tr.near{background:var(--near)}.plotted tr.likely{background:var(--likely)}\n"
    ".plotted tr td{background:none}#leaderboard .name{width:auto}\n"
    ".plotted th,.plotted td{display:none;border:0;padding:0 .4rem 0 0;max-width:none;min-width:0}\n"
    ".plotted td:first-child,.plotted th:first-child{padding-left:0;text-align:left}\n"
    ".plotted .keep{display:block}\n"
    ".plotted .picture{display:block;grid-column:1/-1;grid-row:2;width:auto;padding:.3rem 1rem}\n"
    ".plotted td.third,.plotted td.fourth{display:block;grid-row:3;grid-column:1/-1;text-align:left;\n"
    "font-size:.8rem;color:var(--soft)}\n"
    ".plotted td.fourth{grid-row:4}.plotted td.end{text-align:right}\n"
    "td.third.end:not([data-value=''])::before{content:'chance of being best '}\n"
    "td.fourth:not(.end)::after{content:' errored'}td.fourth.end::before{content:'incl. errored '}\n"
    ".plotted.two tr{grid-template-columns:minmax(0,1fr) minmax(0,1fr) minmax(0,auto)}\n"
    ".plotted.alone tr{grid-template-columns:minmax(0,1fr) auto}\n"
    ".narrow th,.narrow td{padding-right:.4rem;white-space:normal}.narrow .name{min-width:4rem}\n"
    ".narrow{font-size:.8rem}.extra{display:none}\n"
    "#costs,#costs thead,#costs tbody{display:block}\n"
    "#costs tr{display:flex;flex-wrap:wrap;align-items:end;padding:.3rem 0;\n"
    "border-bottom:1px solid var(--line)}\n"
    "#costs th,#costs td{flex:1 1 0;min-width:0;border:0;padding:0 .4rem 0 0}\n"
    "#costs .name{flex:0 0 100%;max-width:none}\n"
    "#triangle{grid-template-columns:minmax(4rem,7rem) repeat(var(--m),minmax(0,1fr));\n"
    "font-size:.65rem}\n"
    "#triangle.tight{grid-template-columns:6.5rem repeat(var(--m),minmax(0,1fr));padding-right:.3rem}\n"
    "#triangle.tight i{font-size:0}#triangle.tight em{margin:0 -.3rem}\n"
    "#triangle.tight em:nth-of-type(even){visibility:hidden}\n"
    "#triangle.tight>span{white-space:nowrap;overflow:hidden;text-overflow:ellipsis}\n"
    "}\n"
    "@media print{body{max-width:none}.wide{overflow:visible}button{display:none}}\n",
    NULL};
