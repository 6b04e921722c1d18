import JSONBytes

/// The texts of Engine.IO and Socket.IO that a client speaks, from and to what apps and gateways exchange here.
enum ClientPackets {
    /// How often the transport asks whether the app lives, and how long it waits for the answer, ms.
    static let pingInterval: UInt64 = 2000
    private static let pingTimeout: UInt64 = 2500

    /// A message as the text of one WebSocket message.
    static func text(of message: AppMessage, _ text: AppText) -> String {
        let json = String(decoding: text.json, as: UTF8.self)
        return switch message {
        case .opened: #"0{"sid":"s","pingInterval":\#(self.pingInterval),"pingTimeout":\#(self.pingTimeout)}"#
        case .ping: "2"
        case .accepted: #"40{"sid":"s"}"#
        case .event: "42" + json
        case .acknowledged(let number): "43\(number)[\(json)]"
        }
    }

    /// What a client's text is to a gateway; nil: nothing.
    static func news(in packet: String, from user: String) -> AppNews? {
        if packet.hasPrefix("40") { return .connected(user: user) }
        if packet.hasPrefix("41") { return .gone }
        guard packet.hasPrefix("42") else { return nil }
        let rest = packet.utf8.dropFirst(2)
        let digits = rest.prefix { $0 != UInt8(ascii: "[") }
        return .event(Array(rest.dropFirst(digits.count)), ackID: UInt64(String(decoding: digits, as: UTF8.self)))
    }
}
