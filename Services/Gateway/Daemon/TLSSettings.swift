package import Boot
package import SocketIOServer

/// The certificate and the key of a gateway that speaks TLS itself.
package struct TLSSettings: Sendable {
    package let identity: TLSIdentity
    /// When the certificate expires, seconds since 1970.
    package var expiry: Int { self.identity.expiry }
    let certificateFile: ReadFile
    let keyFile: ReadFile

    static let certificate = Setting<String?>.optionalString(
        "tls-certificate",
        "PEM file of a certificate chain, the gateway's own first, for TLS on its port; read again when it changes.")
    static let key = Setting<String?>.optionalString(
        "tls-key",
        "PEM file of the certificate's private key, without a passphrase, not readable by others; read again likewise.")

    /// Reads both files.
    /// - Returns: nil when neither is set: the gateway speaks plain text.
    package init?(_ values: SettingValues) throws(SettingProblem) {
        switch (values[Self.certificate], values[Self.key]) {
        case (nil, nil): return nil
        case (_?, nil): throw values.problem(Self.certificate, "needs \(Self.key.name), too")
        case (nil, _?): throw values.problem(Self.key, "needs \(Self.certificate.name), too")
        case (let certificate?, let key?):
            self.certificateFile = ReadFile(certificate)
            self.keyFile = ReadFile(key)
        }
        do throws(TLSFileProblem) {
            self.identity = try Self.identity(self.certificateFile.path, self.keyFile.path)
        } catch {
            throw values.problem(error.isOfKey ? Self.key : Self.certificate, error.reason)
        }
    }

    func read() throws(TLSFileProblem) -> TLSIdentity {
        try Self.identity(self.certificateFile.path, self.keyFile.path)
    }

    private static func identity(_ certificate: String, _ key: String) throws(TLSFileProblem) -> TLSIdentity {
        let certificates = try Self.read(certificate, isOfKey: false) { _ in nil }
        // A key that others know is not used for a moment, either.
        let secret = try Self.read(key, isOfKey: true) { facts in
            guard facts.permissions & 0o007 != 0 else { return nil }
            let mode = String(facts.permissions & 0o777, radix: 8)
            return SettingRefusal("can be accessed by every user of this machine (mode \(mode)): chmod o= \(key)")
        }
        do throws(TLSIdentityFailure) {
            return try TLSIdentity(certificates: certificates, key: secret)
        } catch {
            switch error {
            case .noCertificate: throw TLSFileProblem(isOfKey: false, "contains no PEM certificate that can be read")
            case .noKey:
                throw TLSFileProblem(isOfKey: true, "contains no PEM private key that can be read without a passphrase")
            case .mismatch: throw TLSFileProblem(isOfKey: true, "is not the key of the certificate in \(certificate)")
            }
        }
    }

    private static func read(
        _ path: String, isOfKey: Bool, unless objection: (FileFacts) -> SettingRefusal?
    ) throws(TLSFileProblem) -> [UInt8] {
        do throws(SettingRefusal) { return try FileBytes.read(path, unless: objection).get() } catch {
            throw TLSFileProblem(isOfKey: isOfKey, error.reason)
        }
    }
}

/// Why a certificate and its key are not accepted.
struct TLSFileProblem: Error {
    let isOfKey: Bool
    let reason: String

    init(isOfKey: Bool, _ reason: String) {
        self.isOfKey = isOfKey
        self.reason = reason
    }
}
