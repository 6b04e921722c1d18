package import Auth
import Boot

/// What tokens are judged by.
package struct TokenSettings: Sendable {
    /// What changes with files while the gateway runs.
    package struct Rules: Sendable, Equatable {
        package var keys: KeySet
        /// Tokens that are refused all the same.
        package var revocations: RevocationList
    }

    package let rules: Rules
    let keysFile: ReadFile?
    let revocationsFile: ReadFile?
    /// The key that is no file's.
    private let secret: KeySet?
    private let issuer: String
    private let audience: String
    private let leeway: Duration
    private let lifetime: Int

    static let maxRevocationBytes = 16 << 20

    static let leeway = Setting.milliseconds(
        "jwt-leeway-ms", default: 60_000, in: 0...300_000,
        "Tolerated difference of clocks: how long after its exp a token is still good, also for live connections.")
    static let revocations = Setting<String?>.optionalString(
        "revocations",
        "File of tokens and users that are refused, as JSON Lines or an array; read again when it changes.")

    /// Reads keys and revocations.
    /// - Returns: nil in open mode.
    init?(_ values: SettingValues) throws(SettingProblem) {
        let secret = try Self.secret(values)
        let keysFile = values[SharedSettings.jwtKeysFile].map { ReadFile($0) }
        let revocationsFile = values[Self.revocations].map { ReadFile($0) }
        guard secret != nil || keysFile != nil else {
            guard revocationsFile == nil else {
                throw values.problem(Self.revocations, "needs jwt-secret or jwt-keys-file: there are no tokens")
            }
            return nil
        }
        self.secret = secret
        self.keysFile = keysFile
        self.revocationsFile = revocationsFile
        self.issuer = values[SharedSettings.jwtIssuer]
        self.audience = values[SharedSettings.jwtAudience]
        self.leeway = values[Self.leeway]
        self.lifetime = values[SharedSettings.tokenLifetime]
        self.rules = Rules(
            keys: try Self.keys(secret, keysFile, values), revocations: try Self.revocations(revocationsFile, values))
    }

    private static func secret(_ values: SettingValues) throws(SettingProblem) -> KeySet? {
        guard let secret = values[SharedSettings.jwtSecret] else { return nil }
        do { return try KeySet(secret: secret.utf8) } catch {
            throw values.problem(SharedSettings.jwtSecret, error.description)
        }
    }

    private static func keys(
        _ secret: KeySet?, _ file: ReadFile?, _ values: SettingValues
    ) throws(SettingProblem) -> KeySet {
        do throws(SettingRefusal) { return try self.keys(secret, in: file.map { FileBytes.read($0.path) }) } catch {
            throw values.problem(SharedSettings.jwtKeysFile, error.reason)
        }
    }

    private static func revocations(
        _ file: ReadFile?, _ values: SettingValues
    ) throws(SettingProblem) -> RevocationList {
        guard let file else { return RevocationList() }
        do throws(SettingRefusal) {
            return try self.revocations(in: FileBytes.read(file.path, limit: Self.maxRevocationBytes))
        } catch {
            throw values.problem(Self.revocations, error.reason)
        }
    }

    // MARK: Files

    /// All keys, those of the file as it is now among them.
    func keys(in contents: Result<[UInt8], SettingRefusal>) throws(SettingRefusal) -> KeySet {
        try Self.keys(self.secret, in: contents)
    }

    private static func keys(
        _ secret: KeySet?, in contents: Result<[UInt8], SettingRefusal>?
    ) throws(SettingRefusal) -> KeySet {
        let text = try contents?.get()
        do throws(KeyFailure) {
            guard let secret else { return try KeySet(parsing: text ?? []) }
            guard let text else { return secret }
            return try secret.union(KeySet(parsing: text))
        } catch {
            throw SettingRefusal(error.description)
        }
    }

    static func revocations(in contents: Result<[UInt8], SettingRefusal>) throws(SettingRefusal) -> RevocationList {
        let text = try contents.get()
        do { return try RevocationList(parsing: text) } catch { throw SettingRefusal(error.description) }
    }

    func makeVerifier() async throws -> TokenVerifier { try await self.makeVerifier(self.rules) }

    func makeVerifier(_ rules: Rules) async throws -> TokenVerifier {
        try await TokenVerifier(
            keys: rules.keys, issuer: self.issuer, audience: self.audience, leeway: self.leeway.components.seconds,
            lifetime: Int64(self.lifetime), revocations: rules.revocations)
    }
}

/// A file of settings that is read again when it changes.
struct ReadFile {
    let path: String
    /// The file before it was read.
    let stamp: FileFacts?

    init(_ path: String) {
        self.path = path
        self.stamp = FileFacts(of: path)
    }
}
