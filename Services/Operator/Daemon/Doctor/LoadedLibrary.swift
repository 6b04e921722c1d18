internal import Glibc

/// The versions of the linked libraries, without the headers that belong to their wrappers.
enum LoadedLibrary {
    /// libzmq's version, three numbers.
    static func zeroMQVersion() -> [Int]? {
        typealias Function =
            @convention(c) (
                UnsafeMutablePointer<Int32>, UnsafeMutablePointer<Int32>, UnsafeMutablePointer<Int32>
            ) -> Void
        guard let symbol = dlsym(nil, "zmq_version") else { return nil }
        var (major, minor, patch): (Int32, Int32, Int32) = (0, 0, 0)
        unsafeBitCast(symbol, to: Function.self)(&major, &minor, &patch)
        return [Int(major), Int(minor), Int(patch)]
    }

    /// libpq's version as an integer: 150018 is 15.18.
    static func libpqVersion() -> Int? {
        typealias Function = @convention(c) () -> Int32
        guard let symbol = dlsym(nil, "PQlibVersion") else { return nil }
        return Int(unsafeBitCast(symbol, to: Function.self)())
    }
}
