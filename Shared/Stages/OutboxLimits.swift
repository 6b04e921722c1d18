internal import Mesh
internal import Wire

/// How much may wait for one peer whose link is full, and how long an envelope the peer accepts.
///
/// | from → to | bytes | keys of previews | what an overflow costs |
/// | --- | --- | --- | --- |
/// | gateway → coalescer, coalescer → fan-out | 16 MiB | 65,536 | previews; each next one is complete |
/// | gateway → committer, fan-out | 16 MiB | none | the gateway sends again what it still waits for, and says who is there |
/// | committer → gateway | 16 MiB | none | results; the gateway repeats its commits |
/// | committer → fan-out | 32 MiB | none | updates; the fan-out reads the log |
/// | fan-out → gateway | a setting | 10,000 | the streams; the gateway is told where its rooms stand |
///
/// An envelope is full, and followed by another one, at ``EnvelopeWriter/fullSize``, but not within a group of previews.
public struct OutboxLimits: Sendable {
    /// Bytes that may wait, the latest previews and awareness apart.
    let bytes: Int
    /// How many previews, of different keys, may wait, and as much awareness.
    let keys: Int
    /// Bytes of the longest envelope that the peer accepts; it would close the link on a longer one.
    let envelope: Int

    package init(bytes: Int, keys: Int = 0, envelope: Int = LinkOptions.maximumIncomingBytes) {
        self.bytes = bytes
        self.keys = keys
        self.envelope = envelope
    }

    package static let previews = OutboxLimits(bytes: 16 << 20, keys: 65_536)
    /// Of commits, which credit bounds, and what gateways ask fan-outs.
    package static let requests = OutboxLimits(bytes: 16 << 20)
    package static let results = OutboxLimits(bytes: 16 << 20, envelope: .max)
    package static let updates = OutboxLimits(bytes: 32 << 20)

    /// Of a room's stream. Answers to joins are as long as their rooms.
    package static func stream(bytes: Int) -> OutboxLimits { OutboxLimits(bytes: bytes, keys: 10_000, envelope: .max) }
}
