public import SocketIO

extension SocketIOServer {
    /// An endpoint at a path. Paths match with and without a trailing slash.
    public struct Route {
        enum Kind {
            case socketIO(any SocketIOApplication)
            case engineIO(any EngineIOApplication)
            case webSocket(any WebSocketApplication, WebSocketLimits)
        }

        let path: [UInt8]
        let kind: Kind

        private init(_ path: String, _ kind: Kind) {
            var bytes = Array(path.utf8)
            while bytes.last == UInt8(ascii: "/") { bytes.removeLast() }
            self.path = bytes
            self.kind = kind
        }

        public static func socketIO(path: String = "/socket.io/", _ application: any SocketIOApplication) -> Route {
            Route(path, .socketIO(application))
        }

        public static func engineIO(path: String, _ application: any EngineIOApplication) -> Route {
            Route(path, .engineIO(application))
        }

        public static func webSocket(
            path: String, _ application: any WebSocketApplication, limits: WebSocketLimits
        ) -> Route {
            Route(path, .webSocket(application, limits))
        }
    }
}

/// The routes of a server, the allowed web origins, and the timeouts of its sessions.
struct RouteTable {
    private let routes: [SocketIOServer.Route]
    private let origins: OriginPolicy
    private let socketIOTimings: EngineTimings
    /// For sessions that wait for no namespace.
    private let engineIOTimings: EngineTimings

    init(_ routes: [SocketIOServer.Route], _ configuration: SocketIOServer.Configuration) {
        self.routes = routes
        self.origins = configuration.origins
        let timings = { (connect: EngineTimings.ConnectTimeouts?) in
            EngineTimings(
                pingInterval: max(1_000_000, configuration.pingInterval.nanoseconds),
                pingTimeout: configuration.pingTimeout.nanoseconds,
                upgradeTimeout: configuration.upgradeTimeout.nanoseconds, connect: connect)
        }
        self.socketIOTimings = timings(
            .init(
                request: configuration.connectRequestTimeout.nanoseconds,
                acceptance: configuration.connectTimeout.nanoseconds))
        self.engineIOTimings = timings(nil)
    }

    func index(of path: ArraySlice<UInt8>) -> Int? {
        var path = path
        while path.last == UInt8(ascii: "/") { path.removeLast() }
        return self.routes.firstIndex { $0.path.elementsEqual(path) }
    }

    func kind(_ index: Int) -> SocketIOServer.Route.Kind { self.routes[index].kind }

    func timings(_ index: Int) -> EngineTimings {
        if case .socketIO = self.kind(index) { self.socketIOTimings } else { self.engineIOTimings }
    }

    /// The answer to a request that is refused for its origin; `nil` if it is allowed.
    func refusal(of head: HTTPRequestHead) -> HTTPDestination? {
        switch self.origins.judge(head) {
        case .allowed: nil
        case .refused: .failure(.forbidden, OriginPolicy.message(for: head))
        case .malformed: .failure(.badRequest)
        }
    }

    func corsHeaders(_ head: HTTPRequestHead) -> [(String, String)] { self.origins.headers(for: head) }

    func preflightHeaders(_ head: HTTPRequestHead) -> [(String, String)] {
        let requested = head.header("access-control-request-headers") ?? "Content-Type, Authorization"
        return self.origins.preflightHeaders(for: head, methods: "GET, POST, OPTIONS", fields: requested)
    }
}
