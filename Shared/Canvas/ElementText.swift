/// The stored text of an element, and where its parts are in it. Parts are cut out of the text rather than written again,
/// because a group has hundreds of elements.
public struct ElementText: Sendable {
    /// What `Element.encode(into:)` wrote. Another text has no parts.
    public let json: [UInt8]

    /// Where the geometry ends, and where `rev` is with its name.
    private let ends: (geometry: Int, rev: Range<Int>)?

    public init(_ json: [UInt8]) {
        self.json = json
        self.ends = Self.ends(of: json)
    }

    /// What says where the element is: id, type, geometry, motion and `rev`, as JSON text.
    /// - Parameter withAnimation: whether the animation is part of it; `null` if there is none.
    public func geometry(withAnimation: Bool = false) -> [UInt8] {
        guard let (end, rev) = self.ends else { return self.json }
        var text: [UInt8] = []
        text.reserveCapacity(end + rev.count + 1)
        text += self.json[..<end]
        text += self.json[rev]
        if withAnimation {
            text += Self.animationKey
            text += self.animation.map { self.json[$0] } ?? ArraySlice("null".utf8)
        }
        text.append(UInt8(ascii: "}"))
        return text
    }

    /// Id, type, `rev` and the animation, if there is one, as JSON text.
    public func animated() -> [UInt8] {
        guard let (end, rev) = self.ends, let position = self.json[..<end].firstIndex(of: Self.positionKey, from: 0)
        else { return self.json }
        var text = Array(self.json[..<position] + self.json[rev])
        if let animation = self.animation { text += Self.animationKey + self.json[animation] }
        text.append(UInt8(ascii: "}"))
        return text
    }

    /// The whole text without motion and animation.
    public func still() -> [UInt8] {
        guard let (end, _) = self.ends else { return self.json }
        var text = self.json
        if let animation = self.animation {
            text.removeSubrange(animation.lowerBound - Self.animationKey.count..<animation.upperBound)
        }
        if let motion = self.json[..<end].firstIndex(of: Self.motionKey, from: 0) { text.removeSubrange(motion..<end) }
        return text
    }

    /// Whether a text may have elements with a motion or an animation in it; false: there are none.
    public static func mayMove(_ json: [UInt8]) -> Bool { json[...].firstIndex(of: Self.startKey, from: 0) != nil }

    /// The animation's text; nil if there is none.
    public var animationText: [UInt8]? { self.animation.map { Array(self.json[$0]) } }

    // MARK: Finding

    private static let positionKey = Array(#","positionX":"#.utf8)
    private static let motionKey = Array(#","motion":"#.utf8)
    private static let createdByKey = Array(#","createdBy":"#.utf8)
    private static let revKey = Array(#","rev":"#.utf8)
    private static let startKey = Array(#""startedAt":"#.utf8)
    private static let animationKey = Array(#","animation":"#.utf8)

    /// A quotation mark inside a JSON string is escaped, so a comma before a plain one ends a member, and the fields of the
    /// element precede the app's own.
    private static func ends(of json: [UInt8]) -> (geometry: Int, rev: Range<Int>)? {
        guard let end = json[...].firstIndex(of: Self.createdByKey, from: 0),
            let rev = json[...].firstIndex(of: Self.revKey, from: end)
        else { return nil }
        let digits = json[(rev + Self.revKey.count)...].prefix {
            $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") || $0 == UInt8(ascii: "-")
        }
        return (end, rev..<digits.endIndex)
    }

    /// Where the animation's value is: right behind `rev`, or nowhere.
    private var animation: Range<Int>? {
        guard let rev = self.ends?.rev, self.json[rev.upperBound...].starts(with: Self.animationKey) else { return nil }
        let start = rev.upperBound + Self.animationKey.count
        // Its only texts are names without braces.
        var depth = 0
        for index in start..<self.json.count {
            if self.json[index] == UInt8(ascii: "{") { depth += 1 }
            if self.json[index] == UInt8(ascii: "}") { depth -= 1 }
            if depth == 0 { return start..<index + 1 }
        }
        return nil
    }
}

extension ArraySlice<UInt8> {
    /// Where `pattern` begins for the first time at or after an index.
    fileprivate func firstIndex(of pattern: [UInt8], from start: Int) -> Int? {
        guard self.endIndex >= start + pattern.count else { return nil }
        return (start...self.endIndex - pattern.count).first { index in
            self[index] == pattern[0] && self[index..<index + pattern.count].elementsEqual(pattern)
        }
    }
}
