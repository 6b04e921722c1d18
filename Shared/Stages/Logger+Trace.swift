package import Logging
package import Wire

extension Logger {
    /// Logs a step of a traced commit. Its line is written before what it reports is sent on, so that on one machine the
    /// times of a trace are in the order of its steps.
    package func trace(_ mark: TraceMark) {
        var metadata: Logger.Metadata = [TraceMark.key: "\(mark.trace)"]
        for (fact, value) in mark.facts { metadata[fact.rawValue] = "\(value)" }
        self.info("\(mark.step.rawValue)", metadata: metadata)
    }
}
