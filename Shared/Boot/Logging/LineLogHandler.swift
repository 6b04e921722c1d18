package import Logging

/// A swift-log handler that writes text or JSON lines to a ``LogSink``.
package struct LineLogHandler: LogHandler {
    package var logLevel: Logger.Level
    package var metadata: Logger.Metadata = [:]
    package var metadataProvider: Logger.MetadataProvider?

    private let line: LogLine
    private let sink: LogSink
    private let clock: @Sendable () -> String

    /// - Parameters:
    ///   - origin: the instance's name, on every line.
    ///   - sink: standard error in a daemon.
    ///   - marksPriority: true to begin each line with its priority, for the journal.
    ///   - clock: the time of day as the lines have it.
    package init(
        origin: String, format: LogFormat, level: Logger.Level, sink: LogSink = .standardError,
        marksPriority: Bool = false, clock: @escaping @Sendable () -> String = { WallClock.text() }
    ) {
        self.logLevel = level
        self.line = LogLine(origin: origin, format: format, marksPriority: marksPriority)
        self.sink = sink
        self.clock = clock
    }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { self.metadata[key] }
        set { self.metadata[key] = newValue }
    }

    package func log(event: LogEvent) {
        var all = self.metadata
        if let provided = self.metadataProvider?.get() { all.merge(provided) { _, new in new } }
        if let own = event.metadata { all.merge(own) { _, new in new } }
        if let error = event.error { all["error"] = "\(error)" }
        let fields = all.sorted { $0.key < $1.key }.map { (key: $0.key, value: $0.value.description) }
        let time = self.clock()
        self.sink.write(
            self.line.bytes(time: time, level: event.level, message: event.message.description, fields: fields),
            notice: { count in
                self.line.bytes(
                    time: time, level: .warning, message: "log lines were dropped",
                    fields: [("log.dropped", "\(count)")])
            })
    }
}
