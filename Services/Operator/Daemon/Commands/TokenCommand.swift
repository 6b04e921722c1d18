internal import ArgumentParser
internal import Auth
internal import Boot
internal import GatewayCore
internal import Glibc
internal import JSONBytes
internal import NIOCore
internal import NIOPosix
internal import Stages

struct TokenCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token", abstract: "Prints a token for testing, signed with the configured HS256 secret.",
        discussion:
            "The secret is the gateways' setting jwt-secret: TOUCHSYNC_JWT_SECRET, or \"jwtSecret\" in a settings file, or the flag."
    )

    @Option(help: "The user's id (sub).")
    var user: String
    @Option(help: "A room's id, or * for every room; may be repeated.")
    var room: [String]
    @Option(help: "The user's right there: view, preview or commit.")
    var right: Right = .commit
    @Option(help: "Seconds until the token expires; by default an hour, or token-lifetime-s if that is less.")
    var ttl: Int?
    @Option(help: "The token's id (jti), by which it can be revoked; by default a random one.")
    var id: String?
    @Option(help: "The name that others see.")
    var name: String?
    @Flag(help: "Print one line of JSON: token, id, userId, lifetimeSeconds.")
    var json = false
    @OptionGroup var settings: SettingsOptions

    func validate() throws {
        guard !self.room.isEmpty else { throw ValidationError("give at least one --room") }
        for room in self.room where !TokenCommand.isRoom(room) {
            throw ValidationError("--room must be 1 to 64 letters, digits, and _ . : -, or *, not \"\(room)\"")
        }
        guard (1...128).contains(self.user.utf8.count), !self.user.unicodeScalars.contains(where: \.isHidden) else {
            throw ValidationError("--user must have 1 to 128 bytes, and no characters that cannot be seen")
        }
        if let ttl, ttl < 1 { throw ValidationError("--ttl must be a whole number of seconds from 1, not \(ttl)") }
        if let id, !(1...256).contains(id.utf8.count) { throw ValidationError("--id must have 1 to 256 bytes") }
    }

    func run() throws {
        try TouchSyncCommand.running {
            let values = try self.settings.values(.gateway)
            guard let secret = values[SharedSettings.jwtSecret] else {
                throw OperatorFailure(
                    "no secret is configured: set TOUCHSYNC_JWT_SECRET (at least \(KeySet.shortestSecret) bytes) for this "
                        + "command and for the gateways, or \"jwtSecret\" in the settings file",
                    exitCode: DaemonMain.configurationExitCode)
            }
            let lifetime = try self.lifetime(longest: values[SharedSettings.tokenLifetime])
            let (id, token): (String, String)
            do {
                // 128 bits: nobody guesses it, no two tokens share it.
                id = self.id ?? String(randomWords: 2)
                token = try self.token(
                    id: id, secret: secret, issuer: values[SharedSettings.jwtIssuer],
                    audience: values[SharedSettings.jwtAudience], lifetime: lifetime)
            } catch let failure as KeyFailure {
                throw OperatorFailure("--jwt-secret: \(failure)", exitCode: DaemonMain.configurationExitCode)
            }
            if token.utf8.count > TokenVerifier.longestToken {
                throw OperatorFailure(
                    "the token would have \(token.utf8.count) bytes, more than gateways accept; name fewer rooms")
            }
            ProcessSetup.print(self.json ? self.report(token, id: id, lifetime: lifetime) : "\(token)\n")
            return 0
        }
    }

    private func report(_ token: String, id: String, lifetime: Int) -> String {
        JSONWriter.line { writer in
            writer.member("token", token)
            writer.member("id", id)
            writer.member("userId", self.user)
            writer.member("lifetimeSeconds", lifetime)
        }
    }

    /// Seconds until the token expires.
    private func lifetime(longest: Int) throws(OperatorFailure) -> Int {
        let lifetime = self.ttl ?? min(3600, longest)
        guard lifetime <= longest else {
            throw OperatorFailure(
                "--ttl \(lifetime) is too long: gateways refuse a token \(longest) s after it was issued, whatever it says "
                    + "itself; give less, or raise token-lifetime-s here and for the gateways",
                exitCode: DaemonMain.configurationExitCode)
        }
        return lifetime
    }

    private func token(
        id: String, secret: String, issuer: String, audience: String, lifetime: Int
    ) throws -> String {
        let (user, name, right, lifetime) = (self.user, self.name, self.right, Int64(lifetime))
        let rooms = self.room.map { (id: $0, right: right) }
        return try MultiThreadedEventLoopGroup.singleton.next().makeFutureWithTask {
            try await TokenSigner(secret: secret.utf8).token(
                id: id, user: user, name: name, rooms: rooms, issuer: issuer, audience: audience, at: Int64(time(nil)),
                lifetime: lifetime)
        }.wait()
    }

    /// The grammar of room ids, and `*`.
    static func isRoom(_ text: String) -> Bool { text == "*" || (try? RoomID.parse(text)) != nil }
}

extension Right: ExpressibleByArgument {}
