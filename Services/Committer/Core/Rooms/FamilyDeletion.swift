import Canvas
import Wire

/// An edit that deletes elements with their annotations. These are read once it is known how many there are, so that
/// no commit reads more than it may change.
protocol FamilyDeletion: Decidable {
    /// The elements, without their annotations.
    var parents: [Identifier] { get }
}

extension FamilyDeletion {
    func forEachNeed(_ need: (Identifier, NeedScope) -> Void) {
        for parent in self.parents { need(parent, .family) }
    }

    func collect(
        for commit: inout PreparedCommit, rules: RulesTable, in cache: inout ShardCache, into needs: inout Needs
    ) {
        _ = cache.collectFamilies(self.parents.map { ElementKey(commit.room, $0) }, into: &needs)
    }
}

/// Whether the elements that a commit deletes are known with their annotations.
enum FamilyKnowledge {
    /// Something must be read first.
    case incomplete
    case complete
    /// They are more than a commit may change, and are not read.
    case tooMany
}

extension ShardCache {
    /// Adds to `needs` what is missing of elements and their annotations.
    /// - Parameter others: how many further elements the commit changes.
    mutating func collectFamilies(
        _ keys: [ElementKey], others: Int = 0, into needs: inout Needs
    ) -> FamilyKnowledge {
        let missing = keys.count { !self.collect(.element, $0, into: &needs) }
        if missing > 0 {
            for key in keys where !self.annotations.knows(key) { needs.annotations(of: key) }
            return .incomplete
        }
        var size = others
        for key in keys {
            guard let family = self.familySize(of: key, isCounted: false) else {
                needs.annotations(of: key)
                return self.collectCounts(of: keys, into: &needs)
            }
            size += family
        }
        if size > needs.commitElements {
            // Known children may include deleted ones: only the count decides.
            guard self.collectCounts(of: keys, into: &needs) == .complete else { return .incomplete }
            size = keys.reduce(others) { $0 + (self.familySize(of: $1, isCounted: true) ?? 0) }
            if size > needs.commitElements {
                needs.hasOversized = true
                return .tooMany
            }
        }
        needs.changes += size
        let unread = keys.count { !self.collect(.family, $0, into: &needs) }
        return unread == 0 ? .complete : .incomplete
    }

    private mutating func collectCounts(of keys: [ElementKey], into needs: inout Needs) -> FamilyKnowledge {
        let unknown = keys.filter { self.isLiving($0) && !self.annotations.knows($0) }
        for key in unknown { needs.annotations(of: key) }
        return unknown.isEmpty ? .complete : .incomplete
    }

    /// The number of elements that go when this one is deleted: 0 when it is not living; nil when it is not known.
    /// - Parameter isCounted: false when the number of known children will do.
    private mutating func familySize(of key: ElementKey, isCounted: Bool) -> Int? {
        guard case .live(let live)? = self.elements.use(key) else { return 0 }
        if !isCounted, let children = live.children { return 1 + children.count }
        return self.annotations.use(key).map { 1 + $0.count }
    }

    private mutating func isLiving(_ key: ElementKey) -> Bool {
        if case .live? = self.elements.use(key) { true } else { false }
    }
}
