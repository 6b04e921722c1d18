#if canImport(Darwin)
    import Foundation

    extension TransportError {
        /// Why a task of URLSession failed.
        /// - Parameters:
        ///   - error: nil: the server closed the connection.
        ///   - what: what did not happen; begins the sentence.
        init(_ error: (any Error)?, _ what: String) {
            guard let error else {
                self.init(.notTouchSync, "\(what): the server closed the connection.")
                return
            }
            let code: ConnectionFailure.Code =
                switch (error as? URLError)?.code {
                case .cannotConnectToHost: .refused
                case .secureConnectionFailed, .serverCertificateHasBadDate, .serverCertificateUntrusted,
                    .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid, .clientCertificateRejected,
                    .clientCertificateRequired, .appTransportSecurityRequiresSecureConnection:
                    .tls
                case .badServerResponse, .cannotParseResponse: .notTouchSync
                default: .unreachable
                }
            self.init(code, "\(what): \(error.localizedDescription)")
        }
    }
#endif
