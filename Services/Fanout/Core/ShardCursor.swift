/// How far a shard's order of commits is known without a hole.
///
/// A cursor exists only while rooms of the shard are in memory: it is born from the first room's snapshot, moves with
/// updates that come in order, and proves that no update up to it was missed. What lies beyond a hole is remembered by
/// number only (its content went to its room), so that the cursor jumps over it once the hole is filled.
package struct ShardCursor: Equatable, Sendable {
    /// Up to where nothing was missed; nil while nobody needs to know.
    package private(set) var at: UInt64?
    /// The highest gseq that is known to exist.
    package private(set) var head: UInt64 = 0
    /// How often the cursor started to exist.
    package private(set) var births = 0
    private var beyond: Set<UInt64> = []

    /// More than that is not remembered; the log is read instead.
    private static let capacity = 4096

    /// A shard that nobody follows.
    package init() {}

    /// True when there is something between the cursor and the head.
    package var isBehind: Bool {
        guard let at = self.at else { return false }
        return at < self.head
    }

    /// How far the head is away.
    package var lag: UInt64 {
        guard let at = self.at, at < self.head else { return 0 }
        return self.head - at
    }

    /// An update of that number came.
    package mutating func saw(_ gseq: UInt64) {
        self.head = max(self.head, gseq)
        if let at = self.at {
            if gseq <= at { return }
            if gseq == at &+ 1 {
                self.move(to: gseq)
                return
            }
        }
        if self.beyond.count < Self.capacity { self.beyond.insert(gseq) }
    }

    /// The database says that the shard reaches so far.
    package mutating func headIs(_ gseq: UInt64) {
        self.head = max(self.head, gseq)
    }

    /// A room's snapshot was made when the shard stood at `gseq`; when it was asked for, `births` was what is given.
    ///
    /// The first one starts the cursor. One that was asked for before the cursor began, and is older, takes it back:
    /// nobody has seen for that room what lies between.
    package mutating func loaded(at gseq: UInt64, births: Int) {
        self.head = max(self.head, gseq)
        if let at = self.at {
            if births != self.births, gseq < at { self.at = gseq }
        } else {
            self.births += 1
            self.move(to: gseq)
        }
    }

    /// Nobody follows it any more, or all its rooms are loaded anew.
    package mutating func forget() {
        self.at = nil
        self.head = 0
        self.beyond.removeAll()
    }

    private mutating func move(to gseq: UInt64) {
        var position = gseq
        if !self.beyond.isEmpty {
            while self.beyond.remove(position &+ 1) != nil { position &+= 1 }
            if position > gseq || self.at == nil { self.beyond = self.beyond.filter { $0 > position } }
        }
        self.at = position
    }
}
