import CommitterCore
import FanoutCore
import Mesh
import Wire

/// What a daemon that is wrong on purpose does to the envelopes that it reads and sends.
final class WireMistakes {
    private let mutant: Mutant?
    /// The last number that came of each stream.
    private(set) var lastNumbers: [StreamKey: UInt64] = [:]
    /// What came of each shard.
    private(set) var seenHeads = [UInt64](repeating: 0, count: Shard.count)
    /// The gateways among the peers.
    private var gateways: Set<PeerID> = []
    /// Previews that leave behind all that this turn sends, and behind all that the next one sends.
    private var last: [(preview: EnvelopeWriter, peer: PeerID)] = []
    private var late: [(preview: EnvelopeWriter, peer: PeerID)] = []

    init(_ mutant: Mutant?) { self.mutant = mutant }

    func peerUp(_ peer: PeerID, isGateway: Bool) { if isGateway { self.gateways.insert(peer) } }
    func peerDown(_ peer: PeerID) { self.gateways.remove(peer) }

    func saw(_ gseq: UInt64, in shard: Int) { self.seenHeads[shard] = max(self.seenHeads[shard], gseq) }

    /// What is read of an envelope.
    func incoming(_ bytes: [UInt8]) -> [UInt8] {
        switch self.mutant {
        case .dedupOff, .groupInPart:
            return Self.rewritten(bytes) { kind, fields throws(EnvelopeError) in
                guard kind == .commit else { return .asItIs }
                let commit = try EnvelopeReader.decode(Commit.self, fields)
                self.lastNumbers[StreamKey(commit.room, commit.session)] = commit.number
                return self.mutant == .groupInPart ? .records([Self.inPart(commit)]) : .asItIs
            }
        case .naivePolling:
            return Self.rewritten(bytes) { kind, fields throws(EnvelopeError) in
                guard kind == .update else { return .asItIs }
                let update = try EnvelopeReader.decode(Update.self, fields)
                self.saw(update.gseq, in: Int(update.shard))
                return .asItIs
            }
        case .fenceOff:
            return Self.rewritten(bytes) { kind, fields throws(EnvelopeError) in
                guard kind == .preview else { return .asItIs }
                let envelope = Self.envelope(try EnvelopeReader.decode(Preview.self, fields))
                for gateway in self.gateways.sorted() { self.last.append((envelope, gateway)) }
                return .records([])
            }
        default: return bytes
        }
    }

    /// What is sent instead of an envelope.
    func outgoing(_ envelope: EnvelopeWriter, to peer: PeerID) -> [UInt8] {
        switch self.mutant {
        case .membersForgotten:
            return Self.rewritten(envelope.bytes) { kind, _ in kind == .roomMembers ? .records([]) : .asItIs }
        case .previewsOvertaken:
            return Self.rewritten(envelope.bytes) { kind, fields throws(EnvelopeError) in
                guard kind == .preview else { return .asItIs }
                self.late.append((Self.envelope(try EnvelopeReader.decode(Preview.self, fields)), peer))
                return .records([])
            }
        case .cursorsEverywhere:
            return Self.rewritten(envelope.bytes) { kind, fields throws(EnvelopeError) in
                guard kind == .awareness else { return .asItIs }
                var awareness = try EnvelopeReader.decode(Awareness.self, fields)
                awareness.area = .everywhere
                return .records([awareness])
            }
        default: return envelope.bytes
        }
    }

    /// True while previews wait to be overtaken.
    var isLate: Bool { !self.late.isEmpty }

    func turnBegins() { self.last = exchange(&self.late, with: []) }

    /// Moves out the previews that leave at the end of a turn.
    func takeLast() -> [(preview: EnvelopeWriter, peer: PeerID)] { exchange(&self.last, with: []) }

    /// The mutant that decides groups in part.
    private static func inPart(_ commit: Commit) -> Commit {
        guard commit.edit.tag == TransformElements.traits.tag,
            let group = try? commit.edit.decode(TransformElements.self), group.items.count > 1
        else { return commit }
        var part = commit
        part.edit = EncodedEdit(TransformElements(group.items.dropLast()))
        return part
    }

    // MARK: Envelopes

    private enum Fate {
        case asItIs
        case records([any WireRecord])
    }

    private static func envelope(_ record: some WireRecord) -> EnvelopeWriter {
        var envelope = EnvelopeWriter()
        envelope.append(record)
        return envelope
    }

    private static func rewritten(
        _ bytes: [UInt8], _ fate: (RecordKind, ByteReader) throws(EnvelopeError) -> Fate
    ) -> [UInt8] {
        var envelope = EnvelopeWriter()
        bytes.withUnsafeBytes { bytes in
            guard var reader = try? EnvelopeReader(bytes) else { return }
            while let (kind, fields) = try? reader.next() {
                guard let fate = try? fate(kind, fields) else { return }
                switch fate {
                case .asItIs:
                    var raw = fields
                    let rest = raw.bytes(raw.remaining)
                    envelope.append(kind) { $0.bytes.append(contentsOf: rest.map(Array.init) ?? []) }
                case .records(let records): for record in records { envelope.append(record) }
                }
            }
        }
        return envelope.bytes
    }
}
