/// The options of a run.
package struct BenchOptions: Sendable {
    /// Server addresses; connections are spread over them. Empty: those of the pipeline in ``dataFolder``.
    package var urls: [String] = []
    /// The folder of a pipeline that `touchsync up` runs: its addresses and processes.
    package var dataFolder: String?
    /// Further server processes to watch.
    package var processes: [WatchedProcess] = []
    /// For servers that require one; must allow every room.
    package var token: String?
    /// The server only relays events of the same names.
    package var isPlain = false
    /// The clients ask for previews in batches.
    package var takesBatches = false
    /// Time to connect beyond the ramp, s.
    package var patience = 60
    /// The loads to run, one after the other.
    package var loads: [NamedLoad] = []
    /// The known number of sustainable senders per room, for loads that would search for it.
    package var sustainable: Int?
    /// Print JSON instead of text.
    package var json = false
    /// File for a chart of latencies over time.
    package var svgFile: String?
    /// No progress lines.
    package var isQuiet = false

    package init() {}
}

/// Why a benchmark cannot run, for people.
package struct BenchFailure: Error, Sendable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) {
        self.description = description
    }
}
