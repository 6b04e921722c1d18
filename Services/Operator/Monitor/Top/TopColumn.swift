internal import OperatorTerminal
internal import Stages

/// A column of the table of instances.
struct TopColumn: Sendable {
    let title: String
    let width: Int
    /// The instance's value; nil while it is unknown.
    let value: @Sendable (InstanceHistory) -> Double?
    let text: @Sendable (Double) -> String

    init(
        _ title: String, _ width: Int, _ figure: PipelineFigure,
        _ text: @escaping @Sendable (Double) -> String = { Quantities.number($0) }
    ) {
        self.title = title
        self.width = width
        self.value = { $0.figures[figure] }
        self.text = text
    }

    func cell(of instance: InstanceHistory) -> String { self.value(instance).map(self.text) ?? "-" }

    private static let cpu = TopColumn("CPU", 5, .cpu) { "\(Int(($0 * 100).rounded()))%" }
    private static let memory = TopColumn("MEMORY", 8, .memoryBytes) { Quantities.bytes($0) }
    private static let queue = TopColumn("QUEUE", 6, .queueCommits)
    private static let age = TopColumn("AGE", 7, .queueAge) { Quantities.span($0) }

    /// The columns behind name and state: those of one stage, or what all stages have.
    static func columns(of stage: Stage?) -> [TopColumn] {
        switch stage {
        case nil:
            [
                self.cpu, self.memory, TopColumn("PREV IN", 7, .previewsIn), TopColumn("PREV OUT", 8, .previewsOut),
                TopColumn("COMMITS", 7, .commitsOut), self.queue, self.age,
            ]
        case .gateway:
            [
                self.cpu, self.memory, TopColumn("APPS", 6, .connections), TopColumn("PREV IN", 7, .previewsIn),
                TopColumn("COMMITS", 7, .commitsIn), self.queue, self.age, TopColumn("SLOW", 4, .slowApps),
            ]
        case .coalescer:
            [
                self.cpu, self.memory, TopColumn("PREV IN", 7, .previewsIn), TopColumn("PREV OUT", 8, .previewsOut),
                TopColumn("HELD", 6, .queuePreviews), TopColumn("AGE", 7, .previewQueueAge) { Quantities.span($0) },
            ]
        case .committer:
            [
                self.cpu, self.memory, TopColumn("COMMITS", 7, .commitsOut), TopColumn("BATCHES", 7, .batches),
                TopColumn("READS", 6, .databaseReads), self.queue, self.age,
            ]
        case .fanout:
            [
                self.cpu, self.memory, TopColumn("ROOMS", 6, .rooms), TopColumn("PREV OUT", 8, .previewsOut),
                TopColumn("UPDATES", 7, .updatesIn), TopColumn("JOINS", 5, .joinsWaiting),
                TopColumn("LAG", 5, .shardLag),
            ]
        }
    }
}
