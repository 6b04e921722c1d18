internal import JSONBytes

/// The limits for JSON of the protocol itself: strict in form, generous in size, because the bytes are limited already.
enum PeerJSON {
    static let limits = {
        var limits = JSONLimits()
        limits.depth = 128
        limits.keysPerObject = 4096
        limits.elementsPerArray = 1_000_000
        limits.numberLength = 1024
        return limits
    }()
}
