import GatewayCore
import SocketIOServer

/// Previews of one room as packets: each is framed once, and what several members get alike is one buffer.
///
/// ```
///              ┌──► a packet for each ──┐
///     texts ───┤                        ├──► one write
///              └──► a packet for all ───┘    to apps that asked for batches
/// ```
struct PreviewPackets {
    private let texts: [PreviewText]
    private var single: [PreparedPacket?]
    /// All of them, without batches and with them.
    private var all: (apart: PreparedPacket?, batched: PreparedPacket?)
    /// What those see who see only some.
    private var portions: [Portion: PreparedPacket] = [:]

    private struct Portion: Hashable {
        var indices: [Int]
        var isBatched: Bool
    }

    init(_ texts: [PreviewText]) {
        self.texts = texts
        self.single = Array(repeating: nil, count: texts.count)
    }

    /// For members that get all of them.
    mutating func all(inBatches isBatched: Bool) -> PreparedPacket {
        if let packet = isBatched ? self.all.batched : self.all.apart { return packet }
        let packet = self.some(Array(self.texts.indices), inBatches: isBatched)
        if isBatched { self.all.batched = packet } else { self.all.apart = packet }
        return packet
    }

    /// For the members that get just these.
    mutating func shared(_ indices: [Int], inBatches isBatched: Bool) -> PreparedPacket {
        let portion = Portion(indices: indices, isBatched: isBatched)
        if let packet = self.portions[portion] { return packet }
        let packet = self.some(indices, inBatches: isBatched)
        self.portions[portion] = packet
        return packet
    }

    /// For one member.
    mutating func some(_ indices: [Int], inBatches isBatched: Bool) -> PreparedPacket {
        if indices.count == 1 { return self.packet(of: indices[0]) }
        if isBatched { return PreparedPacket(batching: indices.map { self.texts[$0] }) }
        return PreparedPacket.concatenating(indices.map { self.packet(of: $0) })
    }

    private mutating func packet(of index: Int) -> PreparedPacket {
        if let packet = self.single[index] { return packet }
        let packet = PreparedPacket(event: self.texts[index].json)
        self.single[index] = packet
        return packet
    }
}

extension PreparedPacket {
    /// Previews for an app that asked for batches.
    init(batching texts: [PreviewText]) {
        self = .concatenating(PreviewText.batches(of: texts).map { PreparedPacket(event: $0) })
    }
}
