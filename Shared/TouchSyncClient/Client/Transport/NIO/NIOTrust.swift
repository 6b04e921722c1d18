#if os(Linux)
    import NIOConcurrencyHelpers
    import NIOCore
    import NIOSSL

    /// TLS as a client: the system's certificates and further ones are trusted, and names are verified.
    final class NIOTrust: Sendable {
        private let roots: [String]
        private let made = NIOLockedValueBox<NIOSSLContext?>(nil)

        init(roots: [String]) { self.roots = roots }

        /// The context of all connections.
        ///
        /// The first call reads the system's certificates, which takes long enough to be kept off the caller's executor.
        @concurrent func context() async throws -> NIOSSLContext {
            if let context = self.made.withLockedValue(\.self) { return context }
            let context = try NIOSSLContext(configuration: self.configuration())
            self.made.withLockedValue { $0 = context }
            return context
        }

        private func configuration() throws -> TLSConfiguration {
            var configuration = TLSConfiguration.makeClientConfiguration()
            configuration.minimumTLSVersion = .tlsv12
            configuration.applicationProtocols = ["http/1.1"]
            configuration.shutdownTimeout = .seconds(1)
            let certificates = try self.roots.flatMap { try NIOSSLCertificate.fromPEMBytes(Array($0.utf8)) }
            if !certificates.isEmpty { configuration.additionalTrustRoots = [.certificates(certificates)] }
            return configuration
        }
    }
#endif
