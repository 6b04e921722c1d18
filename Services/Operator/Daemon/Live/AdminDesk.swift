internal import NIOCore
internal import NIOPosix
internal import Overview
internal import Scraping

/// A daemon's admin server that is asked for a page.
struct NamedAdmin: Sendable {
    let name: String
    let address: AdminAddress
}

/// Asks several admin servers for one page, side by side.
struct AdminDesk {
    /// The most bytes of an answer.
    private static let limit = 4 << 20

    let servers: [NamedAdmin]
    let operatorToken: String?

    /// What each of them answered, in their order. Blocks for some seconds at most.
    func ask(_ path: String) -> [(name: String, answer: Result<AdminAnswer, AdminFailure>)] {
        let eventLoop = MultiThreadedEventLoopGroup.singleton.next()
        let token = self.operatorToken
        let answers = self.servers.map { server in
            eventLoop.flatSubmit {
                let client = AdminClient(server.address, operatorToken: token, on: eventLoop)
                return client.pages([path], limit: Self.limit, within: .seconds(5))
                    .assumeIsolated().always { _ in client.close() }.nonisolated()
            }
        }
        return zip(self.servers, answers).map { server, future in
            do {
                guard let answer = try future.wait().first else { return (server.name, .failure(.silent)) }
                return (server.name, .success(answer))
            } catch {
                return (server.name, .failure(error as? AdminFailure ?? .silent))
            }
        }
    }
}

extension AdminFailure {
    /// For people.
    var reason: String {
        switch self {
        case .unreachable(let reason): "cannot be reached: \(reason)"
        case .silent: "gives no answer"
        case .tooLong(let limit): "answers with more than \(limit) bytes"
        case .malformed: "answers something that is not HTTP"
        }
    }
}
