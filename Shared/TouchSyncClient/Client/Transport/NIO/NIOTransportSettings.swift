#if os(Linux)
    /// What a `NIOTransport` permits.
    public struct NIOTransportSettings: Sendable {
        /// The maximum size of a received message, in bytes; at most 4 GiB.
        public var messageLimit = 64 << 20
        /// The maximum number of frames of a received message.
        public var fragmentLimit = 1 << 20
        /// How many bytes may wait to be sent; a connection with more is closed.
        public var sendLimit = 64 << 20
        /// How long `get` may take.
        public var requestTime = Duration.seconds(30)
        /// Certificates in PEM that are trusted beside the system's.
        public var trustRoots: [String] = []

        /// The defaults.
        public init() {}
    }
#endif
