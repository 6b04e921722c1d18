"""Texts on the canvas at `/`: how people write, alone and together, and how it looks in every window."""

import json

import pytest

from canvas import CTRL, PICTURES, SHIFT, create, note, photo
from pipeline import eventually

EDITED = "document.activeElement.tagName === 'TEXTAREA'"
FIELD = "document.querySelector('.writing textarea')"
CLOSED = "document.querySelector('.writing').hidden"
NEWS = "(document.querySelector('.news').hidden ? '' : document.querySelector('.news').textContent)"


def words(id):
    return f"document.querySelector('.element[data-id={json.dumps(id)}] > .card > .words')"


def write(window, id, text):
    """Opens an element's text with a double click and writes at its end."""
    x, y = window.middle(id)
    window.mouse("mouseMoved", x, y)

    def is_edited():
        # Of a busy machine the second may be too late to be a double click.
        window.click(x, y), window.click(x, y)
        return window.ask(EDITED)

    eventually("its text is edited", is_edited)
    window.ask(f"{FIELD}.setSelectionRange({FIELD}.value.length, {FIELD}.value.length)")
    window.write(text)


def contents(window):
    return sorted(one["content"] for one in window.stored.values())


def test_an_editor_is_left_by_its_user_alone_and_others_see_the_text_grow(single, windows, room):
    create(single, room, note("a", 0, 0, content="Rope"))
    ada, bob = windows(), windows()
    ada.shows(1), bob.shows(1)
    name = ada.ask("document.getElementById('own-name').value")
    write(ada, "a", ", 40 m")
    bob.wait("the text is seen while it is written, with who writes",
             f"{words('a')}.textContent === {json.dumps('Rope, 40 m' + name)} && {words('a')}.querySelector('.caret .flag') !== null")
    assert contents(ada) == ["Rope"], "nothing of it is stored"
    bob.picture(PICTURES / "text-writer.png")
    # Whatever others do to the note, it is still written.
    bob.select("a")
    bob.key("c")
    bob.press("[data-colour='fill mint']")
    eventually("its colour changed", lambda: ada.stored["a"].get("tint") == "mint")
    bob.key("Escape")
    bob.drag(bob.middle("a"), tuple(value + 60 for value in bob.middle("a")), CTRL)
    eventually("it was moved", lambda: ada.stored["a"]["positionX"] > 30)
    ada.wait("the editor goes with it", f"""(() => {{
        const [a, b] = [document.querySelector('.writing'), document.querySelector('.element')].map(one => one.getBoundingClientRect());
        return Math.abs(a.x - b.x) < 2 && Math.abs(a.y - b.y) < 2 && a.x > 500;
    }})()""")
    ada.write(" and a knot")
    ada.key("Backspace")
    assert ada.ask(FIELD + ".value") == "Rope, 40 m and a kno"
    ada.write("t")
    ada.key("Enter", CTRL)
    eventually("it is stored", lambda: contents(ada) == ["Rope, 40 m and a knot"])
    bob.wait("nobody writes any more", f"{words('a')}.textContent === 'Rope, 40 m and a knot'")
    # Escape takes back what was written; a click outside keeps it.
    write(ada, "a", " and more")
    ada.key("Escape")
    ada.wait("it is closed", CLOSED)
    write(ada, "a", "!")
    ada.click(300, 300)
    eventually("a click outside stores it", lambda: contents(ada) == ["Rope, 40 m and a knot!"])


def test_two_who_write_in_one_note_keep_both_texts(single, windows, room):
    create(single, room, note("a", 0, 0, content="Food:"))
    ada, bob = windows(), windows()
    ada.shows(1), bob.shows(1)
    name = ada.ask("document.getElementById('own-name').value")
    write(ada, "a", " bread")
    bob.wait("it is seen", f"{words('a')}.textContent.includes('bread')")
    write(bob, "a", " cheese")
    bob.wait("who comes second sees who writes, and what", f"{NEWS}.includes({json.dumps(name + ' is writing here')}) && {NEWS}.includes('bread')")
    bob.picture(PICTURES / "text-both.png")
    # Both at once: neither has seen what the other stored.
    for window in (ada, bob):
        window.key("Enter", CTRL)
    eventually("both are kept, with what they have in common once",
               lambda: contents(ada)[0] in ("Food: bread\ncheese", "Food: cheese\nbread"))
    for window in (ada, bob):
        window.wait("both see both", f"['Food: bread\\ncheese', 'Food: cheese\\nbread'].includes({words('a')}.textContent)")


def test_who_writes_reads_who_stored_something_meanwhile(single, windows, apps, room):
    create(single, room, note("a", 0, 0, content="Food:"))
    ada, bob = windows(), windows()
    ada.shows(1), bob.shows(1)
    name = bob.ask("document.getElementById('own-name').value")
    write(ada, "a", " bread")
    write(bob, "a", " cheese")
    bob.key("Enter", CTRL)
    told = f"{NEWS}.startsWith({json.dumps(name + ' stored “Food: cheese”.')})"
    ada.wait("it is told by name", told)
    # Whoever does something else with it then.
    grace = apps(single.url, "grace")
    grace.join(room)
    grace.ok("element:update", {"roomId": room, "elementId": "a", "set": {"tint": "mint"}})
    ada.wait("its colour changed", "document.querySelector('.writing').dataset.tint === 'mint'")
    assert ada.ask(told)
    grace.ok("element:update", {"roomId": room, "elementId": "a", "set": {"content": "Food: rice"}})
    ada.wait("a program's name is that of its user", f"{NEWS}.startsWith('grace stored “Food: rice”.')")


def test_of_a_long_text_others_see_the_end_while_it_is_written(single, windows, room):
    create(single, room, note("a", 0, 0, content="Begin.", width=400, height=300))
    ada, bob = windows(), windows()
    ada.shows(1), bob.shows(1)
    name = ada.ask("document.getElementById('own-name').value")
    write(ada, "a", " 👩‍👩‍👧 und weiter" * 40)
    shown = f"{words('a')}.textContent"
    bob.wait("its end is seen, and who writes", f"{shown}.endsWith({json.dumps(' 👩‍👩‍👧 und weiter' + name)}) && {shown}.startsWith('…')")
    assert 300 < bob.ask(f"{shown}.length") < 640 and not bob.ask(f"/^…[\\u200d\\udc00-\\udfff]/.test({shown})")
    ada.key("Enter", CTRL)
    bob.wait("then all of it is", f"{shown}.startsWith('Begin. 👩‍👩‍👧 und')")


def test_two_who_store_at_the_same_moment_or_offline_keep_both_texts(single, windows, room):
    create(single, room, note("a", 0, 0, content=""))
    ada, bob = windows(), windows()
    ada.shows(1), bob.shows(1)
    ada.press("[popovertarget=menu-box]")
    ada.press("#offline")
    ada.key("Escape")
    ada.wait("it is offline", "document.getElementById('state').textContent.includes('Offline')")
    write(ada, "a", "from the train")
    ada.key("Enter", CTRL)
    write(bob, "a", "from home")
    bob.key("Enter", CTRL)
    eventually("bob's is stored", lambda: contents(bob) == ["from home"])
    ada.press("#resume")
    eventually("both are", lambda: contents(bob) == ["from home\nfrom the train"])


def test_the_text_of_a_deleted_or_locked_note_can_be_kept(single, windows, room):
    create(single, room, note("a", 0, 0, tint="mint", content="Old"), note("b", 300, 0, content="Locked"))
    ada, bob = windows(), windows()
    ada.shows(2), bob.shows(2)
    write(ada, "a", " and new")
    bob.select("a")
    bob.key("Delete")
    ada.wait("it says so", f"{NEWS}.includes('deleted')")
    ada.write(" words")
    ada.picture(PICTURES / "text-deleted.png")
    ada.press(".news .primary")
    eventually("they are in a new note", lambda: contents(ada) == ["Locked", "Old and new words"])
    [kept] = [one for one in ada.stored.values() if one["content"].startswith("Old")]
    assert kept["tint"] == "mint" and kept["id"] != "a"
    write(ada, "b", " away")
    bob.select("b")
    bob.key("l")
    ada.wait("it says so", f"{NEWS}.includes('locked')")
    ada.click(200, 600)
    eventually("it is in a new note", lambda: contents(ada) == ["Locked", "Locked away", "Old and new words"])


def test_texts_fit_and_grow_with_what_is_written(single, windows, room):
    long = "Nobody is to leave the hut before the lamp is out and the door is shut. " * 3
    create(single, room, note("a", -300, 0, content="Short"), note("b", 0, 0, content=long, width=200, height=160),
           {"id": "t", "type": "text", "positionX": 300, "positionY": 0, "content": "Title", "fontSize": 28, "width": 220, "height": 56})
    ada, bob = windows(), windows()
    ada.shows(3), bob.shows(3)
    sizes = "({})".format(", ".join(f"{id}: parseFloat(getComputedStyle({words(id)}).fontSize)" for id in "abt").join("{}"))
    for window in (ada, bob):
        seen = window.ask(sizes)
        assert seen["a"] == 18 and seen["b"] < 18 and seen["t"] == 28, seen
    holds = f"(() => {{ const w = {words('b')}; return w.offsetTop + w.offsetHeight <= w.parentElement.clientHeight; }})()"
    assert ada.ask(holds)
    write(ada, "b", "It has been so since the beginning. " * 6)
    ada.key("Enter", CTRL)
    eventually("the note is higher, and its upper edge stays", lambda: ada.stored["b"]["originalHeight"] > 200
               and ada.stored["b"]["positionY"] - ada.stored["b"]["originalHeight"] / 2 == -80)
    bob.wait("it holds its text there, too", f"{holds} && parseFloat(getComputedStyle({words('b')}).fontSize) >= 18 * 0.7")
    ada.picture(PICTURES / "text-grown.png")
    write(ada, "b", "")
    ada.key("a", CTRL)
    ada.write("Gone")
    ada.key("Enter", CTRL)
    eventually("it is as it was", lambda: ada.stored["b"]["originalHeight"] == 160 and ada.stored["b"]["positionY"] == 0)
    assert "least" not in ada.stored["b"]
    write(ada, "t", " of a book that nobody has read")
    left = ada.stored["t"]["positionX"] - ada.stored["t"]["originalWidth"] / 2
    ada.key("Enter", CTRL)
    eventually("a text becomes longer, and begins where it did", lambda: ada.stored["t"]["originalWidth"] > 300
               and ada.stored["t"]["positionX"] - ada.stored["t"]["originalWidth"] / 2 == left)
    ada.key("z", CTRL)
    eventually("all of it is one undo", lambda: (ada.stored["t"]["originalWidth"], ada.stored["t"]["content"]) == (220, "Title"))


def test_a_text_that_nobody_wrote_goes(single, windows, room):
    create(single, room, photo("p", 0, 0))
    ada = windows()
    ada.shows(1)
    editor = "document.querySelector('.writing:not([hidden]) textarea') !== null"
    for leave in (lambda: ada.key("Escape"), lambda: ada.click(60, 400)):
        ada.ask("document.getElementById('canvas').focus()")
        ada.key("t")
        ada.wait("it is written", editor)
        ada.shows(2)
        leave()
        ada.shows(1)
    # One on a picture, too; with letters it stays.
    ada.select("p")
    ada.press("#selection [data-command=text]")
    ada.wait("it is written", editor)
    ada.write("Hi")
    ada.key("Enter", CTRL)
    eventually("it is stored", lambda: sorted(one.get("content", "") for one in ada.stored.values()) == ["", "Hi"])


def test_the_style_of_a_text_is_chosen_beside_it(single, windows, room):
    create(single, room, note("a", 0, 0, content="Hello"), photo("p", 400, 0))
    ada, bob = windows(), windows()
    ada.shows(2), bob.shows(2)
    ada.select("p")
    assert ada.ask("document.getElementById('style').hidden")
    ada.select("a")
    ada.wait("its style is shown", "document.getElementById('style').hidden === false")
    ada.press("#style [aria-label='Size L']")
    ada.press("#style [aria-label='Align right']")
    # While it is written, too: the text keeps the keyboard.
    write(ada, "a", "!")
    ada.press("#style [data-command=bold]")
    ada.press("#style .opener")
    ada.press("#style [aria-label='Colour rose']")
    assert ada.ask(EDITED)
    ada.key(">", CTRL | SHIFT)
    eventually("all of it is stored", lambda: [ada.stored["a"].get(name) for name in ("fontSize", "align", "bold", "ink", "content")]
               == [44, "right", True, "rose", "Hello"])
    ada.picture(PICTURES / "text-style.png")
    ada.key("Enter", CTRL)
    bob.wait("it looks so in the other window", f"""(() => {{
        const style = getComputedStyle({words('a')});
        return style.textAlign === 'right' && style.fontWeight === '750' && {words('a')}.textContent === 'Hello!'
            && style.color === 'rgb(174, 27, 64)';
    }})()""")


# WebDriver has no input methods.
@pytest.mark.parametrize("browser", ["chromium"], indirect=True)
def test_input_methods_zero_characters_and_scripts(single, windows, room):
    create(single, room, note("a", 0, 0, content=""), note("b", 300, 0, content="שלום 👩‍👩‍👧"))
    ada = windows()
    ada.shows(2)
    assert ada.ask(f"getComputedStyle({words('b')}).direction") == "rtl"
    write(ada, "a", "")
    # Escape and Enter of an input method, as Chromium and Safari tell them.
    ada.compose("にほ")
    ada.ask(f"{FIELD}.dispatchEvent(new KeyboardEvent('keydown', {{ key: 'Escape', isComposing: true, bubbles: true }}))")
    ada.ask(f"{FIELD}.dispatchEvent(new KeyboardEvent('keydown', {{ key: 'Enter', ctrlKey: true, keyCode: 229, bubbles: true }}))")
    assert ada.ask(EDITED)
    ada.write("日本")
    ada.ask(f"{FIELD}.setRangeText('\\u0000 👩‍👩‍👧\\ud800', {FIELD}.value.length, {FIELD}.value.length, 'end')")
    ada.key("Enter", CTRL)
    eventually("it is stored without what cannot be", lambda: ada.stored["a"]["content"] == "日本 👩‍👩‍👧")
