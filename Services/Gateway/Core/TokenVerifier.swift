public import Wire

/// Turns a token into an identity at a time (seconds since 1970); the shell gives it, since signatures are no business
/// of the core.
public typealias TokenVerifier = @Sendable (_ token: String, _ now: UInt64) -> Result<Identity, Refusal>
