package import Mesh

extension LinkOptions {
    /// Bytes of the longest frame on a bound link, from whoever reaches it. The largest record is below half of it (a
    /// commit with as much as an app may send in one message), and senders close an envelope when it is full. Updates
    /// that are longer are left to the log.
    package static let maximumIncomingBytes = 4 << 20
    /// Bytes of the longest frame that a gateway accepts from the fan-outs and committers that it dials: the answer to a
    /// join, with the largest room that is sent.
    private static let answerBytes = 512 << 20
    /// Bytes of the longest frame where only control records are due: credit, beats, a hello.
    private static let controlBytes = 4096

    /// Envelopes in a socket where only the newest previews matter.
    package static let previewMark = 256

    /// The options of a bound link.
    /// - Parameters:
    ///   - sendHighWater: envelopes; what waits in a socket is not folded any more.
    ///   - receiveHighWater: envelopes.
    package static func incoming(sendHighWater: Int = 1000, receiveHighWater: Int = 1000) -> LinkOptions {
        var options = LinkOptions(sendHighWater: sendHighWater, receiveHighWater: receiveHighWater)
        options.maximumMessageBytes = Self.maximumIncomingBytes
        return options
    }

    /// The options of a dialled link that carries records one way: what comes back is credit at most, so that a peer
    /// cannot fill the memory with what nobody asked for.
    /// - Parameter sendHighWater: envelopes.
    package static func outgoing(sendHighWater: Int = 1000) -> LinkOptions {
        var options = LinkOptions(sendHighWater: sendHighWater, receiveHighWater: 100)
        options.maximumMessageBytes = Self.controlBytes
        return options
    }

    /// The options of a dialled link over which elements come back, up to whole rooms.
    package static func answering() -> LinkOptions {
        var options = LinkOptions()
        options.maximumMessageBytes = Self.answerBytes
        return options
    }
}
