"""How the canvas at `/` looks: nothing overlaps or is clipped, all can be read, pressed by a finger, and reached by keys."""

import json

import pytest

from canvas import PICTURES, SHIFT, Canvas, create, note, photo, scene
from conftest import claims, signed
from page import Page

OVERLAPS = """(() => {
    const panels = [...document.querySelectorAll('.panel, .chip, .card-box, [popover]')].filter(one => one.checkVisibility());
    const boxes = panels.map(one => [one, one.getBoundingClientRect()]).filter(([, box]) => box.width > 0);
    const problems = [];
    for (const [one, box] of boxes) {
        const name = one.id || one.className;
        if (box.left < 0 || box.top < 0 || box.right > innerWidth || box.bottom > innerHeight) problems.push(`${name} leaves the window`);
        for (const [other, its] of boxes) {
            if (one === other || one.contains(other) || other.contains(one) || one.popover || other.popover) continue;
            const meet = box.left < its.right && its.left < box.right && box.top < its.bottom && its.top < box.bottom;
            if (meet) problems.push(`${name} and ${other.id || other.className}`);
        }
    }
    for (const [one] of boxes) {
        if (one.scrollWidth > one.clientWidth + 1) problems.push(`${one.id || one.className} is too narrow`);
    }
    for (const one of document.querySelectorAll('button, .chip, h1, h2, b, label, #banner-text, #toast')) {
        if (!one.checkVisibility() || one.closest('#world, .sr') || one.matches('.sr')) continue;
        if (one.scrollWidth > one.clientWidth + 1 && one.clientWidth > 0) problems.push(`${one.id || one.textContent} is clipped`);
    }
    return problems;
})()"""

# Elements behind a panel, where the camera shows all of them.
COVERED = """(() => {
    const panels = [...document.querySelectorAll('.panel, .chip')].filter(one => one.checkVisibility());
    const boxes = panels.map(one => [one.id || one.className, one.getBoundingClientRect()]);
    return [...document.querySelectorAll('.element')].flatMap(one => {
        const box = one.getBoundingClientRect();
        return boxes.filter(([, its]) => box.left < its.right && its.left < box.right && box.top < its.bottom && its.top < box.bottom)
            .map(([name]) => `${one.dataset.id} lies behind ${name}`);
    });
})()"""

# What a finger is too large for. Rulers are edges of the window.
SMALL = """[...document.querySelectorAll('button, input, select')]
    .filter(one => one.checkVisibility({ visibilityProperty: true }) && !one.closest('#world, .ruler, .handle') && one.type !== 'radio')
    .map(one => [one, one.getBoundingClientRect()])
    .filter(([, { width, height }]) => width < 39.5 || height < 39.5)
    .map(([one, { width, height }]) => `${one.id || one.ariaLabel || one.textContent} is ${width} x ${height}`)"""

# WCAG 2.2: a text's colour against what lies behind it; controls have a name.
ACCESS = """(() => {
    const channels = colour => {
        const painter = document.createElement('canvas').getContext('2d');
        painter.fillStyle = colour;
        painter.fillRect(0, 0, 1, 1);
        const [r, g, b, a] = painter.getImageData(0, 0, 1, 1).data;
        return [r, g, b, a / 255];
    };
    const luminance = ([r, g, b]) => [r, g, b].map(value => value / 255)
        .map(value => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4)
        .reduce((sum, value, at) => sum + value * [0.2126, 0.7152, 0.0722][at], 0);
    const behind = node => {
        for (let one = node; one; one = one.parentElement) {
            const colour = channels(getComputedStyle(one).backgroundColor);
            if (colour[3] > 0.99) return colour;
        }
        return [255, 255, 255, 1];
    };
    const problems = [];
    for (const node of document.querySelectorAll('body *')) {
        if (!node.checkVisibility({ checkOpacity: true }) || node.closest('#world, svg, .sr')) continue;
        const hasText = [...node.childNodes].some(child => child.nodeType === 3 && child.data.trim());
        if (hasText && !node.disabled && node.tagName !== 'OPTION') {
            const [a, b] = [channels(getComputedStyle(node).color), behind(node)].map(luminance).sort((a, b) => b - a);
            const contrast = (a + 0.05) / (b + 0.05);
            if (contrast < 4.5) problems.push(`${node.id || node.className} "${node.textContent.trim().slice(0, 30)}": ${contrast.toFixed(2)}`);
        }
        if (node.matches('button, input, select, textarea, [role=application], [role=img], [role=group], [role=dialog], [role=toolbar]')) {
            const name = node.getAttribute('aria-label') || node.textContent.trim() || [...(node.labels ?? [])].map(label => label.textContent.trim()).join('')
                || document.getElementById(node.getAttribute('aria-labelledby'))?.textContent;
            if (!name) problems.push(`${node.outerHTML.slice(0, 80)} has no name`);
        }
    }
    return problems;
})()"""


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width, height", [(390, 844), (1440, 900), (2560, 1440)])
def test_nothing_overlaps_and_all_can_be_read(single, browser, apps, theme, width, height):
    # The room's name is in the pictures.
    room = f"{'hut' if theme == 'light' else 'night'}-{width}{'-too' * (browser.name == 'firefox')}"
    scene(single, room)
    ada = Canvas(browser, single, room, width=width, height=height)
    # With less motion nothing is on its way from one colour to another.
    ada.prefer(theme, "reduce")
    grace = apps(single.url, auth={"userId": "grace", "name": "Grace", "color": "#be185d"})
    grace.join(room)
    ada.wait("two are here", "document.getElementById('state').textContent.includes('2 here')")
    ada.shows(9)
    assert ada.ask(COVERED) == []

    def check(state):
        ada.wait("no colour changes any more", "!document.getAnimations().some((one) => one instanceof CSSTransition)")
        assert (state, ada.ask(OVERLAPS)) == (state, [])
        assert (state, ada.ask(ACCESS)) == (state, [])
        ada.picture(PICTURES / f"canvas-{width}-{theme}-{state}.png")

    grace.send("cursor:moving", {"roomId": room, "x": 560, "y": 170})
    grace.send("element:gesturing", {"roomId": room, "elementId": "n1", "translation": {"x": 24, "y": 16}})
    ada.wait("somebody moves something", "document.querySelector('.outline.moving .name') !== null")
    ada.select("p2")
    check("selected")
    if width == 1440:
        # For the README: small, and with everything in it.
        ada.size(840, 560)
        ada.ask("document.activeElement.blur()")
        ada.key("1")
        ada.wait("it fits", "Number.parseInt(document.getElementById('zoom').textContent) < 80")
        ada.picture(PICTURES / f"readme-{theme}.png")
        ada.size(width, height)
        ada.key("1")
    for box in ("share-box", "people-box", "menu-box"):
        ada.press(f"[popovertarget={box}]")
        ada.wait("it is open", f"document.getElementById('{box}').matches(':popover-open')")
        check(box)
        ada.key("Escape")
    ada.press("[popovertarget=menu-box]")
    ada.press("#offline")
    ada.key("Escape")
    ada.ask("document.getElementById('canvas').focus()")
    ada.key("l")
    ada.wait("an edit waits", "document.getElementById('pending').hidden === false && document.getElementById('toast').hidden === false")
    assert ada.ask("document.querySelector('.cursor')?.checkVisibility() ?? false") is False, "nobody knows where grace points now"
    check("offline")
    ada.press("#resume")
    ada.key("?", SHIFT)
    ada.wait("the help is open", "document.getElementById('help').matches(':popover-open')")
    check("help")
    ada.close()
    assert ada.complaints == []


@pytest.mark.parametrize("theme, width, height", [("light", 390, 844), ("dark", 390, 640), ("light", 844, 390), ("dark", 768, 1024)])
@pytest.mark.parametrize("browser", ["chromium"], indirect=True)
def test_fingers_have_room(single, windows, room, theme, width, height):
    scene(single, room)
    create(single, room, note("locked", 200, 700, locked=True, content="Stays"),
           {"id": "shape", "type": "shape", "shape": "ellipse", "content": "Round", "positionX": 480, "positionY": 720, "width": 200, "height": 120})
    ada = windows(width=width, height=height)
    ada.touch_only()
    ada.prefer(theme, "reduce")
    ada.reload()
    ada.wait("it is in the room again", "document.getElementById('state')?.textContent.includes(' here')")
    ada.key("1")
    ada.shows(11)
    assert ada.ask("matchMedia('(pointer: coarse)').matches")

    def check(state):
        ada.wait("no colour changes any more", "!document.getAnimations().some((one) => one instanceof CSSTransition)")
        for test in (OVERLAPS, ACCESS, SMALL):
            assert (state, ada.ask(test)) == (state, [])

    def opens(selector, what):
        ada.press(selector)
        ada.wait("it is open", f"document.querySelector('{what}')?.matches(':popover-open')")
        check(what)
        ada.key("Escape")

    check("nothing is selected")
    for box in ("share-box", "people-box", "menu-box", "insert-box"):
        opens(f"[popovertarget={box}]", f"#{box}")
    for id in ("p2", "locked", "a1", "shape"):
        ada.select(id)
        check(id)
        opens("#selection [data-command=menu]", ".context")
    assert ada.ask("[...document.querySelectorAll('#selection button')].every(one => !one.disabled)")
    for command in ("colours", "animate"):
        opens(f"#selection [data-command={command}]", "#colour-box" if command == "colours" else "#animate-box")
    ada.press("#style .opener")
    check("the colours of a text")
    ada.select_nothing()
    ada.key("?", SHIFT)
    ada.wait("the help is open", "document.getElementById('help').matches(':popover-open')")
    check("help")
    assert "\nAlt + drag" not in ada.ask("document.getElementById('help').innerText")


def test_with_less_motion_texts_are_as_large_as_with_more(single, windows, room):
    create(single, room, note("long", 0, 0, content="The hut warden opens at nine. " * 12, width=260, height=220))
    ada = windows()
    size = "(one => one && (one.closest('.clipped') ? 'clipped' : getComputedStyle(one).fontSize))(document.querySelector('.element .words'))"
    before = ada.wait("it is smaller than it was chosen, as its note could not hold it", f"(size => size < '18' && size)({size})")
    ada.prefer(motion="reduce")
    ada.reload()
    ada.wait("it is drawn", "document.querySelector('.element .words') !== null")
    # What is measured too early stays too small.
    ada.ask("setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(() => (window.isDrawn = true))))")
    ada.wait("two more frames are", "window.isDrawn")
    assert ada.ask(size) == before


# Where the first letter of a text stands, and the last one, in the window.
LETTERS = """(id => {
    const text = document.querySelector(`[data-id=${id}] > .card > .words`).firstChild, range = document.createRange();
    return [0, text.data.length - 1].map(at => {
        range.setStart(text, at);
        range.setEnd(text, at + 1);
        const { x, y } = range.getBoundingClientRect();
        return [x, y];
    });
})"""


def test_what_is_mirrored_can_still_be_read(single, windows, room):
    create(single, room, photo("p", 0, 0), note("n", 300, 0, content="one two three four five six seven eight"),
           {"id": "t", "type": "text", "space": "normalized", "parentId": "p", "positionX": 0.3, "positionY": 0.7, "content": "On it",
            "width": 120, "height": 40, "fontSize": 20})
    ada = windows()
    ada.shows(3)

    def reads(id):
        (first, top), (last, bottom) = ada.ask(f"{LETTERS}('{id}')")
        return first < last if id == "t" else top < bottom

    before = ada.ask(f"{LETTERS}('t')")[0][0]
    ada.select("p")
    ada.key("x")
    ada.wait("what lies on it goes to the other side", f"{LETTERS}('t')[0][0] > {before} + 20")
    assert reads("t")
    ada.select("n")
    ada.key("y")
    ada.wait("its text stands below", "document.querySelector('[data-id=n]').style.transform.includes('-1')")
    assert reads("n")
    ada.double_click(*ada.middle("n"))
    ada.wait("it is written", "document.querySelector('.writing:not([hidden]) textarea') !== null")
    assert ada.ask("getComputedStyle(document.querySelector('.writing textarea')).scale") == "1 -1"
    ada.key("Escape")


def test_names_stand_upright_above_what_is_moved(single, windows, apps, room):
    create(single, room, note("a", 0, 0, rotation=170))
    ada = windows()
    ada.shows(1)
    grace = apps(single.url, auth={"userId": "grace", "name": "Grace", "color": "#be185d"})
    grace.join(room)
    grace.send("cursor:moving", {"roomId": room, "x": 56, "y": 17})
    ada.wait("it is known who she is", "document.querySelector('.cursor .name')?.textContent === 'Grace'")
    grace.send("element:gesturing", {"roomId": room, "elementId": "a", "translation": {"x": 24, "y": 16}})
    ada.wait("her name does", """(() => {
        const [name, box] = ['.outline.moving .name', '.element'].map(one => document.querySelector(one)?.getBoundingClientRect());
        return name && name.width > 1.5 * name.height && name.bottom < box.top && name.bottom > box.top - 12 && Math.abs(name.left - box.left) < 12;
    })()""")


def test_keys_go_on_in_what_they_opened(single, windows, room):
    create(single, room, note("a", 0, 0))
    ada = windows()
    ada.shows(1)
    ada.ask("document.getElementById('canvas').focus()")
    ada.key("Tab")
    for key, held, box in (("c", 0, "colour-box"), ("m", 0, "animate-box"), ("?", SHIFT, "help")):
        ada.key(key, held)
        for _ in range(3):
            ada.wait("its control has the focus", f"document.getElementById('{box}').contains(document.activeElement)")
            assert ada.ask("(({ outlineStyle, outlineWidth }) => [outlineStyle, outlineWidth])(getComputedStyle(document.activeElement))") == ["solid", "2px"]
            ada.key("Tab")
        ada.key("Escape")
        ada.wait("it is closed, and the canvas has the focus", "!document.querySelector(':popover-open') && document.activeElement.id === 'canvas'")


# All that can be pressed but the room's name.
PRESSED = "[...document.querySelectorAll('button, #dock, #view')].filter(one => one.checkVisibility() && !one.closest('form, #canvas')).length"


def test_who_is_not_in_a_room_finds_nothing_to_do_there(guarded, browser, room):
    eve = Page(browser, f"{guarded.url}/?room={room}")
    try:
        eve.wait("a token is asked for", "document.getElementById('entry')?.hidden === false")
        assert eve.ask(PRESSED) == 0 and eve.ask(OVERLAPS) == [] and eve.ask(ACCESS) == []
        token = signed(claims(sub="eve", name="Eve", rooms={"another": "commit"}))
        eve.ask(f"sessionStorage.setItem('touchsync token', {json.dumps(json.dumps(token))})")
        eve.reload()
        eve.wait("it is the wrong one", "document.getElementById('denied')?.hidden === false")
        assert eve.ask("document.getElementById('denied-text').textContent").startswith("You are not invited to this room.")
        assert eve.ask(PRESSED) == 0
        eve.open(f"{guarded.url}/?room=no%20name")
        eve.wait("it is none", "document.getElementById('denied')?.hidden === false")
        assert eve.ask(PRESSED) == 0
    finally:
        eve.close()


def test_an_empty_room_explains_itself(windows):
    ada = windows(width=390, height=844)
    ada.wait("it does", "document.getElementById('empty').hidden === false")
    assert ada.ask(OVERLAPS) == [] and ada.ask(ACCESS) == []
    ada.picture(PICTURES / "canvas-390-light-empty.png")


def test_the_theme_can_be_chosen(windows):
    ada = windows()
    paper = "getComputedStyle(document.body).backgroundColor"
    light = ada.ask(paper)
    ada.press("[popovertarget=menu-box]")
    ada.press("#themes [value=dark] + span")
    ada.wait("it is dark", f"{paper} !== {json.dumps(light)}")
    ada.open(f"{ada.pipeline.url}/?room={ada.room}")
    ada.wait("it still is", f"{paper} !== {json.dumps(light)}")
    ada.ask("localStorage.removeItem('touchsync theme')")
