internal import CZeroMQ

/// An error of libzmq or of the operating system.
package struct MeshError: Error, Sendable, CustomStringConvertible {
    /// The kind of an error; branch on this, not on the message.
    package enum Code: Sendable {
        /// The text is not an endpoint that this module supports.
        case invalidEndpoint
        case invalidOption
        /// A live process listens on this endpoint already.
        case addressInUse
        /// The context is closed.
        case terminated
        /// A call failed with `errno`.
        case system
    }

    package let code: Code
    /// What failed, with the names that an operator needs.
    package let message: String
    /// The error number of the failed call, 0 if there was none.
    package let errno: Int32

    /// True when a retry may succeed.
    package var isRetriable: Bool { self.code == .addressInUse || self.code == .system }

    /// Kind, message and the text of the error number.
    package var description: String {
        guard self.errno != 0, let text = zmq_strerror(self.errno) else { return "\(self.code): \(self.message)" }
        return "\(self.code): \(self.message): \(String(cString: text)) (\(self.errno))"
    }

    init(_ code: Code, _ message: String, errno: Int32 = 0) {
        self.code = code
        self.message = message
        self.errno = errno
    }

    /// From an error number of libzmq or the system.
    package init(errno: Int32, _ message: String) {
        let code: Code =
            switch errno {
            case EADDRINUSE: .addressInUse
            case mesh_eterm: .terminated
            default: .system
            }
        self.init(code, message, errno: errno)
    }
}
