extension Element {
    /// The part of an element's stored text that says where it is: id, type, geometry and `rev`, as JSON text. It is cut
    /// out of the text rather than written again, because a group has hundreds of elements.
    ///
    /// - Parameter json: what `encode(into:)` wrote. Another text is returned unchanged.
    public static func geometryText(of json: [UInt8]) -> [UInt8] {
        // A quotation mark inside a JSON string is escaped, so a comma before a plain one ends a member, and the fields
        // of the element precede the app's own.
        guard let end = json.firstIndex(of: Self.createdByKey, from: 0),
            let rev = json.firstIndex(of: Self.revKey, from: end)
        else { return json }
        let digits = json[(rev + Self.revKey.count)...].prefix {
            $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") || $0 == UInt8(ascii: "-")
        }
        var text: [UInt8] = []
        text.reserveCapacity(end + Self.revKey.count + digits.count + 1)
        text += json[..<end]
        text += Self.revKey
        text += digits
        text.append(UInt8(ascii: "}"))
        return text
    }

    private static let createdByKey = Array(#","createdBy":"#.utf8)
    private static let revKey = Array(#","rev":"#.utf8)
}

extension [UInt8] {
    /// Where `pattern` begins for the first time at or after an index.
    fileprivate func firstIndex(of pattern: [UInt8], from start: Int) -> Int? {
        guard self.count >= pattern.count else { return nil }
        return (start...self.count - pattern.count).first { index in
            self[index] == pattern[0] && self[index..<index + pattern.count].elementsEqual(pattern)
        }
    }
}
