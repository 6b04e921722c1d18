import JSONBytes

/// One message from the server: Socket.IO 5 over Engine.IO 4, as the text of one WebSocket message.
///
///     0{…}  2  40{…}  42["event",{…}]  43NUMBER[{…}]  44{…}
package enum ServerPacket: Sendable {
    /// The transport is open; how long the server may be silent is in it.
    case open(JSONObject)
    /// The transport ends.
    case close
    /// To be answered.
    case ping
    /// CONNECT was accepted; the connection's name, which earlier versions of Socket.IO do not tell.
    case connected(name: String?)
    /// The server disconnects this app.
    case disconnected
    /// Something happened.
    case event(name: String, data: JSONObject)
    /// The answer to a request.
    case answer(number: Int, JSONObject)
    /// CONNECT was refused.
    case refused(JSONObject)

    /// Nil for what this client does not know or cannot read.
    package init?(text: String) {
        var rest = Array(text.utf8)[...]
        guard let type = rest.popFirst() else { return nil }
        switch type {
        case UInt8(ascii: "0"):
            guard let greeting = JSONObject(text: Array(rest)) else { return nil }
            self = .open(greeting)
        case UInt8(ascii: "1"): self = .close
        case UInt8(ascii: "2"): self = .ping
        case UInt8(ascii: "4"): self.init(message: rest)
        default: return nil
        }
    }

    /// A Socket.IO packet: a type, the number of a request, JSON.
    private init?(message: ArraySlice<UInt8>) {
        var rest = message
        guard let type = rest.popFirst() else { return nil }
        let digits = rest.prefix { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
        rest = rest.dropFirst(digits.count)
        switch type {
        case UInt8(ascii: "0"):
            let name = JSONValue(clientText: rest)?["sid"]?.string ?? ""
            self = .connected(name: name.isEmpty ? nil : name)
        case UInt8(ascii: "1"): self = .disconnected
        case UInt8(ascii: "2"):
            guard let parts = JSONValue(clientText: rest).map({ Array($0.elements) }), let name = parts.first?.string
            else { return nil }
            self = .event(name: name, data: JSONObject(parts.dropFirst().first))
        case UInt8(ascii: "3"):
            guard let number = Int(String(decoding: digits, as: UTF8.self)) else { return nil }
            self = .answer(number: number, JSONObject(JSONValue(clientText: rest)?.elements.first { _ in true }))
        case UInt8(ascii: "4"): self = .refused(JSONObject(JSONValue(clientText: rest)))
        default: return nil
        }
    }
}
