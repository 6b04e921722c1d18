import JSONBytes

/// The messages that a client sends before it is live.
enum Greeting {
    /// Acknowledgement ids of requests during the greeting.
    static let joinID = 0
    static let createID = 1
    /// The maximum number of elements in one request; more are created in several steps.
    static let batch = 500

    /// `40{…}`: CONNECT with the client's identity.
    static func connect(_ plan: ClientPlan, _ target: Target) -> [UInt8] {
        let identity = JSONWriter.text { writer in
            if let token = target.token {
                writer.member("token", token)
            } else {
                writer.member("userId", "bench-\(plan.index)")
                writer.member("name", "Bench \(plan.index)")
            }
            if target.takesBatches { writer.member("batches", true) }
        }
        return Array("40".utf8) + identity
    }

    /// `420["room:join",{…}]`.
    static func join(_ room: String, wantsPreviews: Bool = true) -> [UInt8] {
        let previews = wantsPreviews ? "" : #","previews":false"#
        return Array(#"42\#(self.joinID)["room:join",{"roomId":"\#(room)"\#(previews)}]"#.utf8)
    }

    /// `42["viewport:set",{…}]`: some of the columns in which senders move, all around if there are no more.
    static func viewport(_ room: String, columns: Range<Int>) -> [UInt8] {
        let (x, width) = (Int64(columns.lowerBound) * SendTime.column, Int64(columns.count) * SendTime.column)
        return Array(
            #"42["viewport:set",{"roomId":"\#(room)","x":\#(x),"y":0,"width":\#(width),"height":2000000}]"#.utf8)
    }

    /// Creates the client's own element, with content of this size.
    static func create(room: String, element: String, content bytes: Int) -> [UInt8] {
        let content = bytes > 0 ? #","content":"\#(String(repeating: "x", count: bytes))""# : ""
        return Array(
            #"""
            42\#(self.createID)["element:create",{"roomId":"\#(room)","element":{"id":"\#(element)","type":"note"\#(content)}}]
            """#.utf8)
    }

    /// The id of a further element.
    static func furtherElement(_ index: Int) -> String { "x\(index)" }

    /// Creates further elements from `first` on, at most ``batch``.
    static func createMore(room: String, first: Int, upTo end: Int) -> [UInt8] {
        let elements = (first..<min(end, first + self.batch)).map {
            #"{"id":"\#(self.furtherElement($0))","type":"note"}"#
        }
        return Array(
            #"""
            42\#(self.createID)["elements:create",{"roomId":"\#(room)","elements":[\#(elements.joined(separator: ","))]}]
            """#.utf8)
    }

    /// The end of an HTTP head; nil while it is incomplete.
    static func headEnd(_ bytes: UnsafeRawBufferPointer) -> Int? {
        ByteSearch.find("\r\n\r\n", in: bytes).map { $0 + 4 }
    }
}
