/// Every libzmq option that a link sets: a property where links differ, – where all have the same.
///
/// | property | libzmq | default |
/// | --- | --- | --- |
/// | `sendHighWater` | SNDHWM, messages per peer | 1000 |
/// | `receiveHighWater` | RCVHWM, messages per peer | 1000 |
/// | `maximumMessageBytes` | MAXMSGSIZE per frame; a longer one costs the peer its connection | 4 MiB |
/// | – | (ours) frames per message; a message with more is dropped and counted | 16 |
/// | `linger` | LINGER after an orderly close; a lost link is closed with 0 | 1 s |
/// | `handshakeInterval` | HANDSHAKE_IVL: a connection that does not finish its greeting is closed | 2 s |
/// | – | HEARTBEAT_IVL, _TIMEOUT, _TTL: frees connections to dead hosts | 1 s, 3 s, 3 s |
/// | – | CONNECT_TIMEOUT: an attempt that is not accepted ends; the next one resolves the name again | 2 s |
/// | – | RECONNECT_IVL, _IVL_MAX while a peer was not reached yet | 100 ms, 2 s |
/// | – | TCP_KEEPALIVE | on |
/// | – | BACKLOG of a bound socket | 256 |
/// | – | IMMEDIATE = 0: with 1 a lost connection would discard messages that arrived but were not read yet. Links do
/// not need it: they send only when greeted, and close a lost socket | always |
/// | – | ROUTER_MANDATORY = 1: an unknown peer is an error, not a silent drop; ROUTER_HANDOVER stays 0 | always |
/// | – | IPV6 = 1 | for IPv6 addresses |
///
/// The memory that one link may use for a peer that does not read: about `sendHighWater` × the usual message size, plus
/// the other side's `receiveHighWater`. Set both per link according to the lane's messages.
///
/// MAXMSGSIZE also applies to the frames of a handshake, whose memory libzmq reserves as soon as their length is
/// announced (ZMTP 3.1, RFC 37). So whoever reaches a bound socket, with a key or without, can make it store that many
/// bytes for each connection until HANDSHAKE_IVL ends it; with CURVE the last of these frames is stored three more times
/// while it is decrypted.
package struct LinkOptions: Sendable, Equatable {
    /// Beyond these a send returns `wouldBlock`.
    package var sendHighWater: Int
    /// Beyond these the sender is throttled.
    package var receiveHighWater: Int
    package var maximumMessageBytes = 4 << 20
    package var linger = Duration.seconds(1)
    package var handshakeInterval = Duration.seconds(2)
    static let maximumFrames = 16

    package init(sendHighWater: Int = 1000, receiveHighWater: Int = 1000) {
        self.sendHighWater = sendHighWater
        self.receiveHighWater = receiveHighWater
    }

    /// The first setting outside its range, in words; nil when all are valid.
    package var problem: String? {
        // 0 means "without limit" to libzmq, and nothing here is unlimited.
        if !(1...1_000_000).contains(self.sendHighWater) { return "sendHighWater must be 1 to 1000000" }
        if !(1...1_000_000).contains(self.receiveHighWater) { return "receiveHighWater must be 1 to 1000000" }
        if !(64...(1 << 30)).contains(self.maximumMessageBytes) { return "maximumMessageBytes must be 64 to 1 GiB" }
        if self.linger < .zero || self.linger > .seconds(10) { return "linger must be 0 to 10 s" }
        if self.handshakeInterval < .milliseconds(100) { return "handshakeInterval must be at least 100 ms" }
        return nil
    }
}
