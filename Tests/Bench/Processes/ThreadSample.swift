import Boot

/// A thread's time so far, nanoseconds.
package struct ThreadSample: Sendable, Equatable {
    /// On a core.
    package var running: Int64 = 0
    /// Ready to run, but without a core.
    package var waiting: Int64 = 0

    package init(running: Int64 = 0, waiting: Int64 = 0) {
        self.running = running
        self.waiting = waiting
    }

    /// Reads `/proc/<pid>/task/<tid>/schedstat` (Documentation/scheduler/sched-stats of Linux): time on a core, time in
    /// the run queue, time slices.
    /// - Returns: nil for text of another shape.
    package init?(schedstat: [UInt8]) {
        let fields = schedstat.split(separator: UInt8(ascii: " ")).map { Int64(String(decoding: $0, as: UTF8.self)) }
        guard fields.count >= 2, let running = fields[0], let waiting = fields[1] else { return nil }
        self.init(running: running, waiting: waiting)
    }

    /// Samples the calling thread; zero where the kernel does not report it.
    static func ofThisThread() -> ThreadSample {
        (try? FileBytes.read("/proc/thread-self/schedstat").get()).flatMap(ThreadSample.init(schedstat:))
            ?? ThreadSample()
    }
}
