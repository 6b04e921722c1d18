internal import JSONBytes

/// The limits for JSON of the protocol itself: strict in form, generous in size, because the bytes are limited already,
/// and with every text that JSON can express: which ones are valid is for the application to say.
enum PeerJSON {
    static let limits = {
        var limits = JSONLimits()
        limits.depth = 128
        limits.allowsMoreKeys = true
        limits.keyLength = .max
        limits.elementsPerArray = 1_000_000
        limits.numberLength = 1024
        limits.allowsUnstorableText = true
        return limits
    }()
}
