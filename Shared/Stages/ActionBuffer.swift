/// What a core wants done, in order: the core appends, its shell performs.
///
/// To perform may lead to more. So the shell takes out what there is, and gives the storage back when that is done: two
/// arrays take turns, and a turn of the shell allocates nothing.
package struct ActionBuffer<Action> {
    /// What is to be done; the core appends here.
    package var pending: [Action] = []
    private var spare: [Action] = []

    /// Storage for at most this many actions is kept between turns.
    private static var keptActions: Int { 1024 }

    package init() {}

    /// Removes and returns what is to be done; nil when that is nothing.
    package mutating func take() -> [Action]? {
        guard !self.pending.isEmpty else { return nil }
        return exchange(&self.pending, with: exchange(&self.spare, with: []))
    }

    /// What was taken has been done: its storage serves again.
    package mutating func giveBack(_ done: consuming [Action]) {
        done.removeAll(keepingCapacity: done.capacity <= Self.keptActions)
        self.spare = done
    }
}
