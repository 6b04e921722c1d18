internal import JSONBytes

/// How JSON is read that the protocol itself needs: strict in form, wide in size, because the bytes are bounded already.
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
