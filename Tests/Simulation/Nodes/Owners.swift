import Mesh
import Wire

/// Which instance of one stage serves which shard, over those that answer: as every sender works it out for itself.
struct Owners {
    private var up: Set<String> = []
    private var resting: Set<String> = []
    private var owner = [String?](repeating: nil, count: Shard.count)
    private var former = [String?](repeating: nil, count: Shard.count)

    /// What a change of one instance did.
    struct Change {
        /// Shards with a new owner whose former one is still there, and those whose former one is gone.
        var handedOver: Set<Int> = []
        var orphaned: Set<Int> = []
        /// And those whose former one rests.
        var relieved: Set<Int> = []
    }

    subscript(shard: Int) -> String? { self.owner[shard] }

    func former(_ shard: Int) -> String? {
        self.former[shard].flatMap { self.up.contains($0) ? $0 : nil }
    }

    mutating func changed(_ name: String, isUp: Bool, isResting: Bool = false) -> Change {
        if isUp { self.up.insert(name) } else { self.up.remove(name) }
        if isUp, isResting { self.resting.insert(name) } else { self.resting.remove(name) }
        let rendezvous = Rendezvous(up: self.up, resting: self.resting)
        var change = Change()
        for shard in 0..<Shard.count {
            let (new, old) = (rendezvous.owner(of: shard), self.owner[shard])
            guard new != old else { continue }
            (self.former[shard], self.owner[shard]) = (old, new)
            guard new != nil else { continue }
            if let old, self.resting.contains(old) {
                change.relieved.insert(shard)
            } else if let old, self.up.contains(old) {
                change.handedOver.insert(shard)
            } else {
                change.orphaned.insert(shard)
            }
        }
        return change
    }
}

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

    /// Walks over an envelope; a world in which one cannot be read is wrong.
    func read(_ bytes: [UInt8], _ take: (RecordKind, ByteReader) throws(EnvelopeError) -> Void) {
        do {
            try bytes.withUnsafeBytes { bytes in
                var reader = try EnvelopeReader(bytes)
                while let (kind, fields) = try reader.next() { try take(kind, fields) }
            }
        } catch {
            self.count("malformed")
        }
    }
}
