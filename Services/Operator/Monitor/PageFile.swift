internal import CMonitorPages

/// A file of the page for operators, as it stands in `web`.
struct PageFile: Sendable {
    /// The path of its address.
    let path: String
    let contentType: String
    let content: [UInt8]

    private init(_ file: monitor_file) {
        self.path = String(cString: file.path)
        self.contentType = String(cString: file.type) + "; charset=utf-8"
        self.content = Array(String(cString: file.content).utf8)
    }

    /// All of them.
    static let all = Array(
        sequence(state: 0 as Int32) { index in
            defer { index += 1 }
            return monitor_file(index).map { PageFile($0.pointee) }
        })
}
