/// A value for each ``PipelineFigure``, some of them unknown: what a stage does not have, or no metric said.
struct FigureSet: Equatable, Sendable {
    /// In the order of the cases; NaN is unknown.
    private var values: [Float]

    init() {
        self.values = Array(repeating: .nan, count: PipelineFigure.allCases.count)
    }

    /// A figure; nil when unknown.
    subscript(_ figure: PipelineFigure) -> Double? {
        get {
            let value = self.values[figure.index]
            return value.isNaN ? nil : Double(value)
        }
        set { self.values[figure.index] = newValue.map { Float($0) } ?? .nan }
    }

    /// A figure, 0 when unknown.
    func known(_ figure: PipelineFigure) -> Double { self[figure] ?? 0 }

    /// Adds another instance's figures to these of a stage.
    mutating func combine(_ other: FigureSet) {
        for (index, figure) in PipelineFigure.allCases.enumerated() where !other.values[index].isNaN {
            let (mine, theirs) = (self.values[index], other.values[index])
            self.values[index] = mine.isNaN ? theirs : figure.isMaximum ? max(mine, theirs) : mine + theirs
        }
    }

    /// The means of rates over several seconds, and the values of the last one.
    static func recent(_ sets: some BidirectionalCollection<FigureSet>) -> FigureSet {
        guard var result = sets.last else { return FigureSet() }
        for (index, figure) in PipelineFigure.allCases.enumerated() where figure.kind == .rate {
            let known = sets.map { $0.values[index] }.filter { !$0.isNaN }
            result.values[index] = known.isEmpty ? .nan : known.reduce(0, +) / Float(known.count)
        }
        return result
    }
}
