package import Wire

/// A session as it is given to a connection, with the answer to a join.
struct GrantedSession: Equatable, Sendable {
    let sid: Identifier
    let secret: String
    let sessionEpoch: UInt32
    /// The highest number that it has used.
    let number: UInt64

    /// True when another connection may have had it before.
    var isResumed: Bool { self.sessionEpoch > 1 }
}

/// How sessions are named, signed and recognised; the secrets and the randomness are the shell's.
package struct SessionIssuer: Sendable {
    /// A new session: its public name and its secret.
    package typealias Issue = @Sendable (_ room: Identifier, _ user: Identifier) -> (sid: Identifier, secret: String)
    /// The public name behind a secret that was issued for this room and user; nil for any other text.
    package typealias Verify = @Sendable (_ secret: String, _ room: Identifier, _ user: Identifier) -> Identifier?

    let issue: Issue
    let verify: Verify

    package init(issue: @escaping Issue, verify: @escaping Verify) {
        self.issue = issue
        self.verify = verify
    }

    /// A session that nobody had before.
    func newSession(for join: Join) -> GrantedSession {
        let (sid, secret) = self.issue(join.room, join.member.user)
        return GrantedSession(sid: sid, secret: secret, sessionEpoch: 1, number: 0)
    }
}
