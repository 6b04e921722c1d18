package import Boot
internal import Logging
internal import Mesh
internal import NIOConcurrencyHelpers
package import ServiceLifecycle
package import Timing

/// What a daemon does with a file that may change while it runs.
package protocol WatchedContents: Sendable {
    /// The file has changed and was read again, or was read again on SIGHUP. Called on a thread that may block.
    /// - Parameter contents: its bytes, or why it cannot be read.
    mutating func fileRead(_ contents: Result<[UInt8], SettingRefusal>)
}

/// A file that may change while the daemon runs.
package struct WatchedFile: Sendable {
    fileprivate let path: String
    fileprivate let stamp: FileFacts?
    fileprivate let limit: Int
    fileprivate let objection: @Sendable (FileFacts) -> SettingRefusal?
    fileprivate let contents: any WatchedContents

    /// - Parameters:
    ///   - stamp: the file before it was read at start; nil when it could not be examined.
    ///   - limit: the maximum size, bytes; a longer file is refused.
    ///   - objection: a reason to refuse a file with this metadata unread; nil when there is none.
    package init(
        _ path: String, stamp: FileFacts?, limit: Int = 1 << 20, contents: any WatchedContents,
        unless objection: @escaping @Sendable (FileFacts) -> SettingRefusal? = { _ in nil }
    ) {
        self.path = path
        self.stamp = stamp
        self.limit = limit
        self.objection = objection
        self.contents = contents
    }

    /// A pipe, as a shell makes it of `<(…)`, can be read only once.
    fileprivate var canBeReadAgain: Bool { FileFacts(of: self.path, followsLink: true)?.isRegular ?? true }
}

/// Reads files again whenever they have changed, and on SIGHUP.
///
/// The files are examined once in a pause. That recognizes every way of replacing a file, without knowing its folders: one
/// written in place, one renamed over it, and a symbolic link anywhere on its path that now leads elsewhere, as in a
/// mounted ConfigMap. On a thread of its own, because all of it may block.
package enum FileWatch {
    /// The services that follow files.
    /// - Parameters:
    ///   - name: of the thread and for the log, such as `rules`.
    ///   - pause: the time between two looks; a change is noticed with the second look after it.
    /// - Throws: when the process has no descriptor left.
    package static func services(
        _ files: [WatchedFile], name: String, every pause: Nanoseconds = .seconds(1), _ context: DaemonContext
    ) throws -> [any Service] {
        let files = files.filter(\.canBeReadAgain)
        guard !files.isEmpty else {
            let logger = context.logger
            return [HangUps { logger.info("there is no \(name) file to read again") }]
        }
        let isRequested = NIOLockedValueBox(false)
        let reactor = try Reactor(name: name, logger: context.logger) { _ in
            FileLoop(files, pause, isRequested)
        }
        let hangUps = HangUps {
            isRequested.withLockedValue { $0 = true }
            reactor.waker.signal()
        }
        return [ReactorService(reactor), hangUps]
    }
}

/// Each turn examines the files. The thread has no links, so it may block.
private final class FileLoop: ReactorLoop {
    private struct Followed {
        let file: WatchedFile
        var follower: FileFollower
        var contents: any WatchedContents
    }

    private var files: [Followed]
    private let pause: Nanoseconds
    private let isRequested: NIOLockedValueBox<Bool>

    init(_ files: [WatchedFile], _ pause: Nanoseconds, _ isRequested: NIOLockedValueBox<Bool>) {
        self.files = files.map { Followed(file: $0, follower: FileFollower($0.stamp), contents: $0.contents) }
        self.pause = pause
        self.isRequested = isRequested
    }

    func turn(at now: Instant) -> Instant? {
        let isRequested = self.isRequested.withLockedValue { exchange(&$0, with: false) }
        for index in self.files.indices {
            let file = self.files[index].file
            let stamp = FileFacts(of: file.path)
            guard self.files[index].follower.examined(stamp) || isRequested else { continue }
            self.files[index].contents.fileRead(Self.contents(of: file))
            self.files[index].follower.wasRead(stamp)
        }
        return MonotonicClock.now() + self.pause
    }

    private static func contents(of file: WatchedFile) -> Result<[UInt8], SettingRefusal> {
        // Opening a pipe would wait for somebody to write.
        if let facts = FileFacts(of: file.path, followsLink: true), !facts.isRegular {
            return .failure(SettingRefusal(facts.isFolder ? "is a folder" : "is not a regular file"))
        }
        return FileBytes.read(file.path, limit: file.limit, unless: file.objection)
    }
}
