/// Every libzmq option that a link sets. Nothing else in the module passes numbers of its own to `zmq_setsockopt`.
///
/// | property | libzmq | default |
/// | --- | --- | --- |
/// | `sendHighWater` | SNDHWM, messages per peer | 1000 |
/// | `receiveHighWater` | RCVHWM, messages per peer | 1000 |
/// | `maximumMessageBytes` | MAXMSGSIZE per frame; a longer one costs the peer its connection | 4 MiB |
/// | `maximumFrames` | (ours) frames per message; a message with more is dropped and counted | 16 |
/// | `linger` | LINGER after an orderly close; a lost link is closed with 0 | 1 s |
/// | `handshakeInterval` | HANDSHAKE_IVL: a connection that does not finish its greeting is closed | 2 s |
/// | `heartbeatInterval`, `heartbeatTimeout`, `heartbeatTTL` | HEARTBEAT_IVL, _TIMEOUT, _TTL: frees connections to dead hosts | 1 s, 3 s, 3 s |
/// | `connectTimeout` | CONNECT_TIMEOUT: an attempt that is not accepted ends; the next one resolves the name again | 2 s |
/// | `reconnectInterval`, `reconnectMaximum` | RECONNECT_IVL, _IVL_MAX while a peer was not reached yet | 100 ms, 2 s |
/// | `tcpKeepalive` | TCP_KEEPALIVE | on |
/// | `backlog` | BACKLOG of a bound socket | 256 |
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
    /// SNDHWM: messages queued per peer before a send returns `wouldBlock`.
    package var sendHighWater = 1000
    /// RCVHWM: messages queued per peer before its sender is throttled.
    package var receiveHighWater = 1000
    package var maximumMessageBytes = 4 << 20
    package var maximumFrames = 16
    package var linger = Duration.seconds(1)
    package var handshakeInterval = Duration.seconds(2)
    /// HEARTBEAT_IVL; zero disables all three heartbeat options.
    package var heartbeatInterval = Duration.seconds(1)
    package var heartbeatTimeout = Duration.seconds(3)
    package var heartbeatTTL = Duration.seconds(3)
    /// CONNECT_TIMEOUT. The kernel's own, about two minutes, goes on for up to a minute after the network has come back.
    package var connectTimeout = Duration.seconds(2)
    /// RECONNECT_IVL, the first wait.
    package var reconnectInterval = Duration.milliseconds(100)
    /// RECONNECT_IVL_MAX, the longest wait.
    package var reconnectMaximum = Duration.seconds(2)
    package var tcpKeepalive = true
    package var backlog = 256

    /// The defaults of the table, except for the two marks that every link should set.
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
        if !(1...256).contains(self.maximumFrames) { return "maximumFrames must be 1 to 256" }
        if self.linger < .zero || self.linger > .seconds(10) { return "linger must be 0 to 10 s" }
        if self.handshakeInterval < .milliseconds(100) { return "handshakeInterval must be at least 100 ms" }
        if self.reconnectInterval < .milliseconds(1) { return "reconnectInterval must be at least 1 ms" }
        if self.reconnectMaximum < self.reconnectInterval {
            return "reconnectMaximum must not be below reconnectInterval"
        }
        if self.heartbeatInterval < .zero || self.heartbeatTimeout < .zero { return "heartbeats must not be negative" }
        if self.heartbeatTTL < .zero || self.heartbeatTTL > .seconds(6553) { return "heartbeatTTL must be 0 to 6553 s" }
        if !(1...4096).contains(self.backlog) { return "backlog must be 1 to 4096" }
        return nil
    }
}
