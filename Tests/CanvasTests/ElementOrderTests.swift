import Canvas
import Testing

@Suite struct ElementOrderTests {
    @Test func higherLevelLiesAbove() {
        let (low, middle, high) = (Self.element("c", -1), Self.element("b", nil), Self.element("a", 0.5))
        #expect(low.isBelow(middle) && middle.isBelow(high) && !high.isBelow(low))
    }

    @Test func idsDecideOnOneLevel() {
        let (first, second) = (Self.element("a", 0), Self.element("b", nil))
        #expect(first.isBelow(second) && !second.isBelow(first) && !first.isBelow(first))
    }

    /// JavaScript compares the halves of surrogate pairs, which precede U+E000.
    @Test func idsAreComparedAsJavaScriptDoes() {
        #expect(Self.element("\u{1F600}", nil).isBelow(Self.element("\u{FF5E}", nil)))
        #expect(Self.element("e\u{301}", nil).isBelow(Self.element("\u{E9}", nil)), "two spellings of one letter")
    }

    private static func element(_ id: String, _ zIndex: Double?) -> Element {
        var element = Element(id: id, type: "note", createdBy: "ada")
        element.zIndex = zIndex
        return element
    }
}
