/// A validated address of a link: `ipc:///run/touchsync/committer-0.sock` or `tcp://10.0.0.7:7401`.
///
/// ```
/// ipc://<absolute path, at most 107 bytes, no NUL>      one host; the file's directory is the access control
/// tcp://<host>:<port>                                   host: name, IPv4, or [IPv6]; `*` is refused: name the interface
/// ```
/// Port 0 is for binding only (the system chooses).
package struct Endpoint: Hashable, Sendable, CustomStringConvertible {
    package enum Kind: Hashable, Sendable {
        /// A local socket's absolute path.
        case ipc(path: String)
        /// A host (IPv6 without brackets) and port.
        case tcp(host: String, port: UInt16)
    }

    /// The longest path that a Linux `sockaddr_un` holds with its NUL.
    package static let maximumPathBytes = 107

    package let kind: Kind

    package init(_ text: String) throws(MeshError) {
        if let path = text.dropping(prefix: "ipc://") {
            try self.init(ipcPath: path)
        } else if let rest = text.dropping(prefix: "tcp://") {
            try self.init(tcp: rest, text: text)
        } else {
            throw MeshError(.invalidEndpoint, "'\(text)' starts with neither ipc:// nor tcp://")
        }
    }

    package init(ipcPath path: String) throws(MeshError) {
        guard path.utf8.first == UInt8(ascii: "/") else {
            throw MeshError(.invalidEndpoint, "the ipc path '\(path)' is not absolute")
        }
        guard path.utf8.count <= Endpoint.maximumPathBytes else {
            throw MeshError(
                .invalidEndpoint,
                "the ipc path '\(path)' has \(path.utf8.count) bytes, at most \(Endpoint.maximumPathBytes) fit")
        }
        guard !path.utf8.contains(0), path.utf8.last != UInt8(ascii: "/") else {
            throw MeshError(.invalidEndpoint, "the ipc path '\(path)' names no file")
        }
        self.kind = .ipc(path: path)
    }

    private init(tcp rest: String, text: String) throws(MeshError) {
        guard let colon = rest.utf8.lastIndex(of: UInt8(ascii: ":")) else {
            throw MeshError(.invalidEndpoint, "'\(text)' has no port")
        }
        let digits = rest[rest.utf8.index(after: colon)...]
        guard digits.utf8.allSatisfy({ (48...57).contains($0) }), let port = UInt16(digits) else {
            throw MeshError(.invalidEndpoint, "'\(text)': the port is not a number from 0 to 65535")
        }
        var host = rest[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
            guard host.utf8.contains(UInt8(ascii: ":")), host.utf8.allSatisfy(Endpoint.isIPv6Byte) else {
                throw MeshError(.invalidEndpoint, "'\(text)': no IPv6 address between the brackets")
            }
        } else {
            guard !host.isEmpty, host.utf8.count <= 253, host.utf8.allSatisfy(\.isNameByte) else {
                throw MeshError(.invalidEndpoint, "'\(text)': the host is not a name or an address of an interface")
            }
        }
        // libzmq binds only addresses and interface names; `localhost` means the loopback address.
        self.kind = .tcp(host: host == "localhost" ? "127.0.0.1" : String(host), port: port)
    }

    /// The text for libzmq, which `init` parses back.
    package var description: String {
        switch self.kind {
        case .ipc(let path): "ipc://\(path)"
        case .tcp(let host, let port):
            host.utf8.contains(UInt8(ascii: ":")) ? "tcp://[\(host)]:\(port)" : "tcp://\(host):\(port)"
        }
    }

    /// True when peers can connect to it: everything but port 0.
    package var isConnectable: Bool {
        if case .tcp(_, 0) = self.kind { false } else { true }
    }

    package var isTCP: Bool {
        if case .tcp = self.kind { true } else { false }
    }

    private static func isIPv6Byte(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: ":") || byte == UInt8(ascii: "%") || byte.isNameByte
    }
}

extension String {
    fileprivate func dropping(prefix: String) -> String? {
        self.hasPrefix(prefix) ? String(self.dropFirst(prefix.count)) : nil
    }
}
