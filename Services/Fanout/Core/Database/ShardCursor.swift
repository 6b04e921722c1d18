package import Wire

/// How far a shard's order of commits is known without a gap.
///
/// A cursor exists only while rooms of the shard are in memory: it is born from the first room's snapshot, moves with
/// updates that come in order, and proves that no update up to it was missed. What lies beyond a gap is remembered by
/// number and link only (its content went to its room), so that the cursor jumps over it once the gap is filled.
///
/// It carries the shard's ``HistoryChain`` as well. What does not continue the chain belongs to another history: either
/// it is stray, or the database's history was replaced.
package struct ShardCursor: Equatable, Sendable {
    /// A position in the shard's order, as an update, a snapshot or a head states it.
    package struct Mark: Equatable, Sendable {
        /// The number.
        package var gseq: UInt64
        /// The link of the update; 0 for a snapshot and a head.
        package var link: UInt64
        /// The chain there; 0: not known.
        package var chain: UInt64

        package init(_ gseq: UInt64, link: UInt64 = 0, chain: UInt64 = 0) {
            self.gseq = gseq
            self.link = link
            self.chain = chain
        }

        package init(_ update: Update) {
            self.init(update.gseq, link: update.link, chain: update.chain)
        }
    }

    /// Up to where nothing was missed; nil while no room of the shard is live.
    package private(set) var at: UInt64?
    /// The chain there; 0: not known.
    package private(set) var chain: UInt64 = 0
    /// The highest gseq that is known to exist.
    package private(set) var head: UInt64 = 0
    /// How often the cursor started to exist.
    package private(set) var births = 0
    private var beyond: [UInt64: Mark] = [:]

    /// More than that is not remembered; the log is read instead.
    private static let capacity = 4096

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

    /// False when the update is the next one and does not continue the chain, or is the last one and another.
    package func continues(with mark: Mark) -> Bool {
        guard let at = self.at else { return true }
        if mark.gseq == at { return self.agrees(mark.chain) }
        return mark.gseq != at &+ 1 || HistoryChain.continues(self.chain, link: mark.link, chain: mark.chain)
    }

    private func agrees(_ chain: UInt64) -> Bool {
        self.chain == 0 || chain == 0 || self.chain == chain
    }

    /// An update came that is part of the stream.
    /// - Returns: false when it, or one that came before, does not continue the chain: the history was replaced.
    package mutating func saw(_ mark: Mark) -> Bool {
        self.head = max(self.head, mark.gseq)
        if let at = self.at {
            if mark.gseq <= at { return true }
            if mark.gseq == at &+ 1 { return self.move(over: mark) }
        }
        if self.beyond.count < Self.capacity { self.beyond[mark.gseq] = mark }
        return true
    }

    /// The database says that the shard reaches so far.
    /// - Returns: false when it has another chain at the cursor: the history was replaced.
    package mutating func headIs(_ mark: Mark) -> Bool {
        self.head = max(self.head, mark.gseq)
        return mark.gseq != self.at || self.agrees(mark.chain)
    }

    /// A room's snapshot was made when the shard stood at `mark`.
    ///
    /// The first one starts the cursor. One that was asked for before the cursor began, and is older, moves it back:
    /// what lies between was not seen for that room.
    /// - Parameter births: the cursor's ``births`` when the snapshot was asked for.
    /// - Returns: false when the snapshot has another chain at the cursor: the history was replaced.
    package mutating func loaded(at mark: Mark, births: Int) -> Bool {
        self.head = max(self.head, mark.gseq)
        guard let at = self.at else {
            self.births += 1
            self.beyond = self.beyond.filter { $0.key > mark.gseq }
            self.at = mark.gseq
            self.chain = mark.chain
            return self.moveOn()
        }
        if mark.gseq == at { return self.agrees(mark.chain) }
        if births != self.births, mark.gseq < at {
            self.at = mark.gseq
            self.chain = mark.chain
        }
        return true
    }

    /// No room of the shard is in memory any more, or all are loaded again.
    package mutating func forget() {
        self.at = nil
        self.chain = 0
        self.head = 0
        self.beyond.removeAll()
    }

    private mutating func move(over mark: Mark) -> Bool {
        let continues = HistoryChain.continues(self.chain, link: mark.link, chain: mark.chain)
        self.at = mark.gseq
        self.chain = mark.chain
        return self.moveOn() && continues
    }

    /// Moves over what came early.
    private mutating func moveOn() -> Bool {
        var continues = true
        while !self.beyond.isEmpty, let at = self.at, let next = self.beyond.removeValue(forKey: at &+ 1) {
            continues = continues && HistoryChain.continues(self.chain, link: next.link, chain: next.chain)
            self.at = next.gseq
            self.chain = next.chain
        }
        return continues
    }
}
