internal import CZeroMQ

/// An error of libzmq or of the operating system.
package struct MeshError: Error, Sendable, CustomStringConvertible {
    /// The kind of an error; branch on this, not on the message.
    package struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Kind: String {
            case invalidEndpoint, invalidOption, addressInUse, terminated, system
        }
        private let kind: Kind
        private init(_ kind: Kind) { self.kind = kind }

        /// The text is not an endpoint that this module supports.
        package static let invalidEndpoint = Code(.invalidEndpoint)
        package static let invalidOption = Code(.invalidOption)
        /// A live process listens on this endpoint already.
        package static let addressInUse = Code(.addressInUse)
        package static let terminated = Code(.terminated)
        package static let system = Code(.system)

        package var description: String { self.kind.rawValue }
    }

    package let code: Code
    /// What failed, with the names that an operator needs.
    package let message: String
    /// The error number of the failed call, 0 if there was none.
    package let errno: Int32
    package let file: String
    package let line: Int

    /// True when a retry may succeed.
    package var isRetriable: Bool { self.code == .addressInUse || self.code == .system }

    /// Kind, message and the text of the error number.
    package var description: String {
        guard self.errno != 0, let text = zmq_strerror(self.errno) else { return "\(self.code): \(self.message)" }
        return "\(self.code): \(self.message): \(String(cString: text)) (\(self.errno))"
    }

    init(_ code: Code, _ message: String, errno: Int32 = 0, file: String = #fileID, line: Int = #line) {
        self.code = code
        self.message = message
        self.errno = errno
        self.file = file
        self.line = line
    }

    /// From an error number of libzmq or the system.
    package init(errno: Int32, _ message: String, file: String = #fileID, line: Int = #line) {
        let code: Code =
            switch errno {
            case EADDRINUSE: .addressInUse
            case mesh_eterm: .terminated
            default: .system
            }
        self.init(code, message, errno: errno, file: file, line: line)
    }
}
