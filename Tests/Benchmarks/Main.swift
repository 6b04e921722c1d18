/// Does each operation of the hot cores some hundred times, for `measure.py` to count. Prints a line for each: its
/// name, and how many were counted.
@main
enum Benchmarks {
    /// Turns that make tables and buffers as large as they get, and turns that are counted.
    private static let warmUp = 100
    private static let counted = 400

    /// In the order in which an edit meets them.
    private static var all: [any Operation.Type] {
        [
            DecodeFrame.self, ScanPreview.self, TakePreview.self, TakeCommit.self,
            Encode<PreviewSample>.self, Decode<PreviewSample>.self, Encode<CommitSample>.self,
            Decode<CommitSample>.self, PassPreview.self, FoldPreview.self,
            DecideCommit.self, ClampTransform.self, EncodeElement.self, DecodeElement.self,
            Encode<UpdateSample>.self, Decode<UpdateSample>.self, BroadcastUpdate.self, JudgePreview.self,
            DeliverUpdate.self, DeliverPreviews.self,
        ]
    }

    static func main() throws {
        for operation in self.all { try self.measure(operation) }
    }

    private static func measure<Work: Operation>(_ operation: Work.Type) throws {
        var work = try Work()
        for _ in 0..<self.warmUp {
            guard work.turn() else { throw WrongResult(operation: Work.name) }
        }
        guard countedTurns(&work, self.counted) else { throw WrongResult(operation: Work.name) }
        print(Work.name, self.counted * Work.perTurn)
    }
}

/// An operation did not do what it should, so what it costs means nothing.
struct WrongResult: Error {
    let operation: String
}
