/// A group's commit of one sender: the first further elements of its room turn about their middle. The text is built once;
/// only the acknowledgement id and the number are written for each message.
package struct GroupMessage: Sendable {
    private let event: [UInt8]

    /// - Parameters:
    ///   - room: plain ASCII that needs no escaping.
    ///   - count: the elements of the group.
    package init(room: String, elements count: Int) {
        let ids = (0..<count).map { "\"\(Greeting.furtherElement($0))\"" }.joined(separator: ",")
        self.event = Array(
            #"["elements:gesture",{"roomId":"\#(room)","elements":[\#(ids)],"pivot":{"x":0,"y":0},"rotation":7"#.utf8)
    }

    /// The message.
    /// - Parameter number: its number in the session.
    package func commit(id: Int, number: UInt64) -> [UInt8] {
        Array("42\(id)".utf8) + self.event + Array(#","n":\#(number)}]"#.utf8)
    }
}
