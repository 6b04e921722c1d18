/// The platform's own way to reach a server.
public enum PlatformTransport {
    /// `NIOTransport` on Linux, `URLSessionTransport` on Apple's platforms, each with its defaults.
    public static func make() -> any Transport {
        #if os(Linux)
            NIOTransport()
        #else
            URLSessionTransport()
        #endif
    }
}
