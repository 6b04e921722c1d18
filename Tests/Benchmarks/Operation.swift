/// Something that a hot core does over and over.
protocol Operation {
    /// Its name in the table.
    static var name: String { get }
    /// How many of what the name says one turn does.
    static var perTurn: Int { get }

    /// All that it needs, made before anything is counted.
    init() throws
    /// Does it, and checks what came of it: false when that is wrong.
    mutating func turn() -> Bool
}

extension Operation {
    static var perTurn: Int { 1 }
}

/// Does an operation so many times. What runs between its entry and its return is what `measure.py` counts, so it must
/// keep its name and never be inlined.
@inline(never)
func countedTurns<Work: Operation>(_ work: inout Work, _ turns: Int) -> Bool {
    for _ in 0..<turns {
        guard work.turn() else { return false }
    }
    return true
}
