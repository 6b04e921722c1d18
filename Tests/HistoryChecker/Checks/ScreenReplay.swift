import JSONBytes

/// What clients drew, from the first to the last, against the log and what their users were told (I22, I23, I24).
///
/// Rooms whose log has a floor are judged at the end only.
struct ScreenReplay {
    /// An app and a room.
    private struct Pair: Hashable {
        var client: String
        var room: String
    }

    /// An edit whose result is known.
    private struct Applied {
        /// Where its user was told, and where the edit was made.
        var result: Int
        var made: Int
        var seq: UInt64
        /// The app does not know what the edit leaves: after the result it was started again or met another epoch, for example.
        var isForgotten = false

        var forgotten: Applied {
            var edit = self
            edit.isForgotten = true
            return edit
        }
    }

    private struct Screen {
        /// What was drawn last of each element, and where.
        var drawn: [String: (body: String, place: Int)] = [:]
        var epoch = ""
        var seq: UInt64 = 0
        /// The user's edits without a result, where they were made.
        var open: [String: Int] = [:]
        /// By element: the edits that were applied.
        var applied: [String: [Applied]] = [:]
        /// Elements that must be drawn as they are stored, unless something of the user lies on top.
        var due: Set<String> = []
        var held: Set<String> = []
        /// What was shown last of everything.
        var whole: Int?

        /// The user's edits of an element that may lie on top of what is stored.
        func isTouched(_ element: String, _ history: [HistoryRecord]) -> Bool {
            self.held.contains(element) || self.open.values.contains { history[$0].targets.contains(element) }
        }

        /// Whether the user has deleted an element, and the room does not show that yet: what is shown may be another one.
        func isDeleted(_ element: String, _ history: [HistoryRecord]) -> Bool {
            let ahead = (self.applied[element] ?? []).filter { $0.seq > self.seq }.map(\.made)
            return (ahead + self.open.values).contains {
                history[$0].event.hasSuffix("delete") && history[$0].targets.contains(element)
            }
        }
    }

    private let index: HistoryIndex
    let states: [String: RoomStates]
    private var screens: [Pair: Screen] = [:]
    private(set) var end = Verdict.Finding()
    private(set) var steadiness = Verdict.Finding()
    private(set) var confirmation = Verdict.Finding()

    init(_ index: HistoryIndex) {
        self.index = index
        let isNeeded = index.history.contains { $0.kind == .shown }
        self.states = isNeeded ? index.rooms.mapValues { RoomStates($0, index.history) } : [:]
    }

    mutating func run() {
        for place in self.index.history.indices { self.step(place) }
        for (pair, screen) in self.screens.sorted(by: { $0.key.client < $1.key.client }) { self.settle(pair, screen) }
    }

    private mutating func step(_ place: Int) {
        let record = self.index.history[place]
        let pair = Pair(client: record.client, room: record.room)
        switch record.kind {
        case .started:
            // Edits outlive the run; what was drawn does not.
            let former = self.screens[pair] ?? Screen()
            let applied = former.applied.mapValues { edits in edits.map(\.forgotten) }
            self.screens[pair] = Screen(open: former.open, applied: applied)
        case .edit: self.screens[pair, default: Screen()].open[record.edit] = place
        case .result: self.told(pair, record, place)
        case .shown where record.isFinal: self.screens[pair]?.whole = place
        case .shown: self.shown(pair, record, place)
        default: break
        }
    }

    private mutating func told(_ pair: Pair, _ record: HistoryRecord, _ place: Int) {
        guard let made = self.screens[pair]?.open.removeValue(forKey: record.edit) else { return }
        let edit = self.index.history[made]
        for element in edit.targets {
            self.screens[pair]?.due.insert(element)
            guard record.code.isEmpty, !edit.event.hasPrefix("history:") else { continue }
            // Where a throw leads only the server knows.
            let isForgotten = edit.event.hasSuffix(":throw")
            self.screens[pair]?.applied[element, default: []]
                .append(Applied(result: place, made: made, seq: record.seq, isForgotten: isForgotten))
        }
    }

    // MARK: What is drawn

    private mutating func shown(_ pair: Pair, _ record: HistoryRecord, _ place: Int) {
        guard var screen = self.screens[pair] else {
            return self.confirmation.violated("shown by an app that never started", [place])
        }
        if screen.epoch == record.epoch {
            self.confirmation.expect(
                record.seq >= screen.seq, "\(screen.seq) was shown before",
                screen.drawn.values.map(\.place).max().map { [$0, place] } ?? [place])
        }
        let states = self.states[record.room] ?? RoomStates()
        let changed = states.changed(after: min(screen.seq, record.seq), upTo: record.seq)
        // A result does not say in which history its edit is: in another one it is contained, follows or is lost.
        if !screen.epoch.isEmpty, screen.epoch != record.epoch {
            screen.applied = screen.applied.mapValues { edits in edits.map(\.forgotten) }
        }
        for (element, body) in record.elements { screen.drawn[element] = (body, place) }
        (screen.epoch, screen.seq, screen.held) = (record.epoch, record.seq, Set(record.targets))
        let elements = screen.due.union(changed).union(record.elements.keys)
        screen.due = []
        self.screens[pair] = screen
        guard states.isWhole else { return }
        for element in elements.sorted() {
            self.checkConfirmation(of: element, on: screen, states, place)
            self.checkSteadiness(of: element, on: screen, states, place)
        }
    }

    /// Without anything of the user on top an element is what is stored at the number that is shown.
    private mutating func checkConfirmation(
        of element: String, on screen: Screen, _ states: RoomStates, _ place: Int
    ) {
        let isAhead = screen.applied[element]?.contains { $0.seq > screen.seq } ?? false
        if isAhead || screen.isTouched(element, self.index.history) { return }
        let stored = states.state(of: element, at: screen.seq)
        let drawn = screen.drawn[element]
        self.confirmation.expect(
            drawn?.body ?? "" == stored?.body ?? "", "\(element) is not shown as it is stored at \(screen.seq)",
            [drawn?.place ?? place, place] + [stored?.row].compactMap(\.self))
    }

    // MARK: What must not go back

    private mutating func checkSteadiness(
        of element: String, on screen: Screen, _ states: RoomStates, _ place: Int
    ) {
        guard let applied = screen.applied[element], let drawn = screen.drawn[element],
            !screen.isDeleted(element, self.index.history)
        else { return }
        if let last = applied.filter({ $0.seq <= screen.seq }).max(by: { $0.seq < $1.seq }) {
            self.checkAge(of: element, drawn.body, since: last, on: screen, states, place)
        }
        if let first = applied.first(where: { $0.seq > screen.seq }) {
            self.checkAhead(of: element, drawn.body, first, on: screen, states, place)
        }
    }

    /// An element that an edit of the user changed is not shown as it was before, once the edit's number is reached.
    private mutating func checkAge(
        of element: String, _ body: String, since edit: Applied, on screen: Screen, _ states: RoomStates, _ place: Int
    ) {
        guard let revision = states.state(of: element, at: edit.seq)?.revision, !body.isEmpty,
            !states.isDeleted(element, after: edit.seq, upTo: screen.seq)
        else { return }
        let shown = RoomStates.revision(of: body)
        self.steadiness.expect(
            shown.map { $0 >= revision } ?? false, "\(element) is shown older than the user's edit",
            [edit.made, edit.result, place])
    }

    /// In the run and the epoch that were told of it, an applied edit whose number is not reached yet is shown as it will be stored, if
    /// nothing else lies between.
    private mutating func checkAhead(
        of element: String, _ body: String, _ edit: Applied, on screen: Screen, _ states: RoomStates, _ place: Int
    ) {
        let numbers = Set((screen.applied[element] ?? []).map(\.seq).filter { $0 > screen.seq })
        guard numbers.count == 1, !edit.isForgotten, !screen.isTouched(element, self.index.history),
            let stored = states.state(of: element, at: edit.seq),
            stored.seq == edit.seq, !states.isChanged(element, after: screen.seq, before: edit.seq)
        else { return }
        self.steadiness.expect(
            RoomStates.appearance(of: body) == RoomStates.appearance(of: stored.body),
            "\(element) is not shown as the user's edit left it", [edit.made, edit.result, place, stored.row])
    }

    // MARK: The end

    /// At the end a client shows what is stored, whether it draws what changed or everything.
    private mutating func settle(_ pair: Pair, _ screen: Screen) {
        guard let whole = screen.whole else {
            return self.end.violated("\(pair.client) did not show its end", [])
        }
        var stored: [String: String] = [:]
        for place in self.index.rooms[pair.room]?.elements ?? [] {
            stored[self.index.history[place].element] = self.index.history[place].body
        }
        let drawn = screen.drawn.mapValues(\.body).filter { !$0.value.isEmpty }
        self.end.expect(
            self.index.history[whole].elements == stored, "\(pair.client) ends with other elements than are stored",
            [whole])
        let wrong = Set(drawn.keys).union(stored.keys).sorted().first { drawn[$0] != stored[$0] }
        self.end.expect(
            wrong == nil, "\(pair.client) has drawn \(wrong ?? "") otherwise than it is stored",
            [wrong.flatMap { screen.drawn[$0]?.place }, whole].compactMap(\.self))
    }
}
