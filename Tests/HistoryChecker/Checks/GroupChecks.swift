// That a commit changes all of its elements or none, and that elements live as long as they should.

extension HistoryIndex {
    /// I15: a row changes exactly the elements that its commit is of, a deletion their annotations too; an element
    /// changes from its creation to its only deletion, and an annotation exists only while its parent does.
    func groups() -> Verdict.Finding {
        var finding = Verdict.Finding()
        for commit in self.commits {
            guard let invoke = commit.invoke, let row = commit.rows.first else { continue }
            self.checkTargets(self.history[invoke].requested, invoke, row, &finding)
        }
        for (_, room) in self.rooms.sorted(by: { $0.key < $1.key }) {
            var lives = Lives(isWhole: room.floor == 0)
            for row in room.rows {
                finding.checked += 1
                if let reason = lives.apply(self.history[row]) { finding.violated(reason, [row]) }
            }
            self.checkFinalParents(room, &finding)
        }
        return finding
    }

    private func checkTargets(_ targets: Set<String>, _ invoke: Int, _ row: Int, _ finding: inout Verdict.Finding) {
        if targets.isEmpty { return }
        let stored = self.history[row]
        let changed = Set(stored.states.keys)
        finding.expect(targets.isSubset(of: changed), "only a part of the commit's elements", [invoke, row])
        let isAllowed = changed.subtracting(targets).allSatisfy { other in
            stored.isDeletion && stored.parents[other].map(targets.contains) == true
        }
        if !isAllowed { finding.violated("another element than asked for", [invoke, row]) }
    }

    private func checkFinalParents(_ room: Room, _ finding: inout Verdict.Finding) {
        let existing = Set(room.elements.map { self.history[$0].element })
        for place in room.elements where !self.history[place].parent.isEmpty {
            finding.expect(
                existing.contains(self.history[place].parent), "an annotation without its parent at the end", [place])
        }
    }

    /// How many commits of several elements were finally refused.
    var refusedGroups: Int64 {
        Int64(
            self.commits.count { commit in
                !commit.refusals.isEmpty && commit.invoke.map { self.history[$0].targets.count > 1 } == true
            })
    }
}

extension HistoryRecord {
    /// True when a row deletes an element with annotations of it.
    var isCascade: Bool {
        self.isDeletion && self.parents.values.contains { self.states[$0] != nil }
    }
}

/// The elements of a room that exist or existed, as the log creates and deletes them.
private struct Lives {
    /// True when the log begins with the room, so that it has the creation of every element.
    let isWhole: Bool
    /// False for an element that was deleted.
    private var exists: [String: Bool] = [:]
    private var annotations: [String: Set<String>] = [:]

    init(isWhole: Bool) { self.isWhole = isWhole }

    /// Applies a row.
    /// - Returns: the first thing that is wrong with it.
    mutating func apply(_ row: HistoryRecord) -> String? {
        var reason: String?
        let states = row.states.sorted { $0.key < $1.key }
        for (element, body) in states {
            // An undo may bring an element back.
            let isRestored = !row.cause.isEmpty && !body.isEmpty && self.exists[element] == false
            if !isRestored { reason = reason ?? self.fault(of: element, isCreated: row.isCreation) }
            self.exists[element] = !body.isEmpty
        }
        for (annotation, parent) in row.parents.sorted(by: { $0.key < $1.key }) {
            self.annotations[parent, default: []].insert(annotation)
            if self.exists[annotation] == true { reason = reason ?? self.fault(ofParent: parent, of: annotation) }
        }
        for (element, body) in states where body.isEmpty {
            let orphan = self.annotations[element]?.sorted().first { self.exists[$0] == true }
            if let orphan { reason = reason ?? "the annotation \(orphan) outlives its parent \(element)" }
        }
        return reason
    }

    private func fault(of element: String, isCreated: Bool) -> String? {
        switch self.exists[element] {
        case .some where isCreated: "\(element) is created a second time"
        case false?: "\(element) changes after its deletion"
        case nil where self.isWhole && !isCreated: "\(element) changes before its creation"
        default: nil
        }
    }

    private func fault(ofParent parent: String, of annotation: String) -> String? {
        switch self.exists[parent] {
        case true?: nil
        case nil where !self.isWhole: nil
        default: "\(parent), the parent of \(annotation), does not exist"
        }
    }
}
