internal import Boot
internal import Overview

/// The file that lists the daemons, read again whenever it is another one. A file that is gone, or no list, leaves the
/// list as it was: it may be replaced just now.
struct DaemonListFile: Sendable {
    private let path: String
    private var stamp: FileStamp?
    /// What the file said last; nil before it could be read.
    private(set) var daemons: [ListedDaemon]?
    /// Why the file as it is now does not count; nil when it does.
    private(set) var refusal: String?

    init(_ path: String) {
        self.path = path
    }

    /// Reads the file if it has changed. Blocking, but short.
    mutating func refresh() {
        guard let stamp = FileStamp(of: self.path) else {
            self.stamp = nil
            self.refusal = "does not exist"
            return
        }
        guard stamp != self.stamp else { return }
        switch FileBytes.read(self.path, limit: DaemonList.maxBytes) {
        case .failure(let refusal): self.refusal = refusal.reason
        case .success(let text):
            guard let daemons = DaemonList.parse(text) else {
                self.refusal = "is not a list of daemons"
                return
            }
            self.daemons = daemons
            self.stamp = stamp
            self.refusal = nil
        }
    }
}
