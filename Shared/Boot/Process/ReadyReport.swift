internal import Glibc
internal import JSONBytes
internal import NIOConcurrencyHelpers

/// Reports readiness to the supervisor once, on the descriptor that it passed:
/// `{"ready":true,"http":"http://127.0.0.1:PORT","url":"http://…"}` and a newline; then closes the descriptor.
final class ReadyReport: Sendable {
    private struct State {
        var descriptor: Int32?
        var http: String?
    }

    private let state: NIOLockedValueBox<State>

    init(descriptor: Int32?) {
        self.state = NIOLockedValueBox(State(descriptor: descriptor))
    }

    /// The admin server's address, known once it listens.
    func listening(at http: String) {
        self.state.withLockedValue { $0.http = http }
    }

    /// Sends the report when everything is ready for the first time.
    func healthChanged(_ health: HealthState) {
        guard health.isReady else { return }
        let (descriptor, http) = self.state.withLockedValue { state in
            defer { state.descriptor = nil }
            return (state.descriptor, state.http)
        }
        guard let descriptor else { return }
        FileBytes.write(Array(Self.line(http: http, url: health.url).utf8), to: descriptor)
        close(descriptor)
    }

    static func line(http: String?, url: String?) -> String {
        JSONWriter.line { writer in
            writer.member("ready", true)
            writer.member("http", ifPresent: http)
            writer.member("url", ifPresent: url)
        }
    }
}
