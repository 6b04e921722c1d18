import JSONBytes

/// The requests of a client that carry no send time; rooms and elements are plain ASCII that needs no escaping.
enum Request {
    /// Acknowledgement ids of requests before the client is live.
    static let joinID = 0
    static let createID = 1
    /// The maximum number of elements in one request; more are created in several steps.
    static let batch = 500

    /// `40{…}`: CONNECT with the client's identity.
    static func connect(_ client: Int, _ target: Target) -> [UInt8] {
        let identity = JSONWriter.text { writer in
            writer.member("token", ifPresent: target.token)
            writer.member("userId", ifPresent: target.token == nil ? "bench-\(client)" : nil)
            writer.member("name", ifPresent: target.token == nil ? "Bench \(client)" : nil)
            if target.takesBatches { writer.member("batches", true) }
        }
        return Array("40".utf8) + identity
    }

    static func join(_ room: String, wantsPreviews: Bool) -> [UInt8] {
        let previews = wantsPreviews ? "" : #","previews":false"#
        return Array(#"42\#(self.joinID)["room:join",{"roomId":"\#(room)"\#(previews)}]"#.utf8)
    }

    /// Some of the columns in which senders move.
    static func viewport(_ room: String, columns: Range<Int>) -> [UInt8] {
        let (x, width) = (Int64(columns.lowerBound) * SendTime.column, Int64(columns.count) * SendTime.column)
        let area = #""x":\#(x),"y":0,"width":\#(width),"height":2000000"#
        return Array(#"42["viewport:set",{"roomId":"\#(room)",\#(area)}]"#.utf8)
    }

    /// Creates the client's own element at the origin, with content of this size.
    static func create(_ room: String, element: String, content bytes: Int) -> [UInt8] {
        let content = bytes > 0 ? #","content":"\#(String(repeating: "x", count: bytes))""# : ""
        let fields = #""id":"\#(element)","type":"note","positionX":0,"positionY":0\#(content)"#
        return Array(#"42\#(self.createID)["element:create",{"roomId":"\#(room)","element":{\#(fields)}}]"#.utf8)
    }

    /// Creates further elements: `x0`, `x1` and so on.
    static func create(_ room: String, further: Range<Int>) -> [UInt8] {
        let elements = further.map { #"{"id":"x\#($0)","type":"note"}"# }.joined(separator: ",")
        return Array(#"42\#(self.createID)["elements:create",{"roomId":"\#(room)","elements":[\#(elements)]}]"#.utf8)
    }

    /// The commit of a group: the further elements turn about their middle.
    static func turn(_ room: String, further count: Int, id: Int, number: UInt64) -> [UInt8] {
        let ids = (0..<count).map { "\"x\($0)\"" }.joined(separator: ",")
        let how = #""pivot":{"x":0,"y":0},"rotation":7,"n":\#(number)"#
        return Array(#"42\#(id)["elements:gesture",{"roomId":"\#(room)","elements":[\#(ids)],\#(how)}]"#.utf8)
    }

    /// A gesture on an element, or several as a group, that drags, pinches and rotates them. Its previews drag the first
    /// one from the origin to the send time, see ``SendTime``; its commit leaves it at the origin.
    /// - Parameter step: counts all previews and commits; of each gesture there are `length` and one.
    static func gesture(
        _ room: String, _ elements: [String], at time: Int64, step: Int, length: Int, commit: (id: Int, number: UInt64)?
    ) -> [UInt8] {
        let (gestures, shown) = step.quotientAndRemainder(dividingBy: length + 1)
        let (x, y) = commit == nil ? SendTime.coordinates(time) : (0, 0)
        // No element grows for ever.
        let pinch = 1 + Double(shown) / Double(gestures.isMultiple(of: 2) ? 4 * length : -5 * length)
        let ids = elements.map { "\"\($0)\"" }.joined(separator: ",")
        let isGroup = elements.count > 1
        let target = isGroup ? #""elements":[\#(ids)],"pivot":{"x":0,"y":0}"# : #""elementId":\#(ids)"#
        let event = "element\(isGroup ? "s" : ""):gestur\(commit == nil ? "ing" : "e")"
        let how = #""translation":{"x":\#(x),"y":\#(y)},"scale":\#(pinch),"rotation":\#(shown)"#
        let (id, end) = commit.map { ("\($0.id)", #","n":\#($0.number)"#) } ?? ("", "")
        return Array(#"42\#(id)["\#(event)",{"roomId":"\#(room)",\#(target),\#(how)\#(end)}]"#.utf8)
    }
}
