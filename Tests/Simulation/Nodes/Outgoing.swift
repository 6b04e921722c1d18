import Stages
import Wire

/// What leaves over dialled links in one turn: an envelope for each.
struct Outgoing {
    private var envelopes: [Int: EnvelopeWriter] = [:]

    mutating func append(_ record: some WireRecord, on link: Link) {
        self.envelopes[link.number, default: EnvelopeWriter()].append(record)
    }

    mutating func append(_ kind: RecordKind, fields: ByteReader, on link: Link) {
        self.envelopes[link.number, default: EnvelopeWriter()].append(kind, fields: fields)
    }

    mutating func flush(in world: World) {
        for (link, envelope) in self.envelopes.sorted(by: { $0.key < $1.key }) {
            _ = world.send(envelope.bytes, on: world.links[link])
        }
        self.envelopes = [:]
    }
}

extension World {
    /// The links that a daemon dials to a stage, by the name at the other end.
    func links(of process: Process, to stage: Stage, _ lane: Link.Lane = .main) -> [String: Link] {
        var found: [String: Link] = [:]
        for link in self.links where link.dialler === process && link.server.stage == stage && link.lane == lane {
            found[link.server.name] = link
        }
        return found
    }

    /// Walks over an envelope.
    func read(_ bytes: [UInt8], _ take: (RecordKind, ByteReader) throws(EnvelopeError) -> Void) {
        bytes.withUnsafeBytes { self.intake.walk($0, take) }
    }
}
