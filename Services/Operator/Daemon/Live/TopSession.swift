internal import Boot
internal import Glibc
internal import NIOConcurrencyHelpers
internal import OperatorMonitor
internal import OperatorTerminal

/// The shell of `touchsync top`: scrapes on other threads, reads keys and draws on this one.
final class TopSession {
    private let scraper: Scraper
    private let stops: StopRequests
    private let scraping: Task<Void, Never>
    private let hasEnded = NIOLockedValueBox(false)
    /// The latest list, which the fan-outs are asked for now and then; nil before the first answer.
    private let rooms = NIOLockedValueBox<LiveRoomList?>(nil)
    private var roomQuestion: Task<Void, Never>?
    private var roomsDueAt = ContinuousClock.now
    private var model = TopModel()

    /// Milliseconds between two looks at the size of the terminal and at what was scraped.
    private static let tick: Int32 = 100
    private static let roomPause = Duration.seconds(2)

    /// Begins to scrape.
    init(_ daemons: DaemonSource, operatorToken token: String?, stops: StopRequests) {
        let lookups = LookupPace(SettingValues(defaultsOf: MonitorSettings.schema))
        let scraper = Scraper(daemons, lookups: lookups, operatorToken: token)
        self.scraper = scraper
        self.stops = stops
        let hasEnded = self.hasEnded
        self.scraping = Task {
            try? await scraper.run()
            hasEnded.withLockedValue { $0 = true }
        }
    }

    func end() {
        self.roomQuestion?.cancel()
        self.scraping.cancel()
        for _ in 0..<40 where !self.hasEnded.withLockedValue({ $0 }) { usleep(50_000) }
    }

    // MARK: Without a screen

    /// Waits for a number of rounds; rates need two.
    /// - Returns: false when it is to stop, or the list of daemons cannot be read.
    func waitForRounds(_ rounds: UInt64) throws(OperatorFailure) -> Bool {
        while self.scraper.history.rounds < rounds {
            if self.stops.isRequested(within: Self.tick) { return false }
            if self.scraper.history.rounds > 0, let refusal = self.scraper.listRefusal {
                throw OperatorFailure("the list of daemons \(refusal)")
            }
        }
        return true
    }

    func text(_ style: TerminalStyle, columns: Int) -> String {
        TopScreen(self.scraper.history, style: style).text(columns: columns)
    }

    var json: String {
        String(decoding: self.scraper.history.json, as: UTF8.self) + "\n"
    }

    // MARK: On a screen

    /// Draws and reads keys until somebody quits.
    func run(on screen: FullScreen, _ style: TerminalStyle) {
        var keys = KeyReader()
        var drawn: (rounds: UInt64, size: TerminalSize)?
        while true {
            let rounds = self.scraper.history.rounds
            if drawn?.rounds != rounds || drawn?.size != screen.size || self.askForRooms() {
                self.draw(on: screen, style)
                drawn = (rounds, screen.size)
            }
            guard let bytes = self.input() else { return }
            for key in keys.read(bytes) {
                switch self.model.pressed(key) {
                case .none: continue
                case .quit: return
                case .repaint: screen.invalidate()
                case .redraw: self.roomsDueAt = .now
                }
                drawn = nil
            }
        }
    }

    /// What was typed within a tick; nil when it is to stop.
    private func input() -> [UInt8]? {
        var watched = [
            pollfd(fd: self.stops.descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0),
        ]
        guard poll(&watched, 2, Self.tick) > 0 else { return [] }
        if watched[0].revents != 0 { return nil }
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = read(STDIN_FILENO, &bytes, bytes.count)
        return count > 0 ? Array(bytes.prefix(count)) : nil
    }

    private func draw(on screen: FullScreen, _ style: TerminalStyle) {
        let top = TopScreen(self.scraper.history, rooms: self.rooms.withLockedValue { $0 }, style: style)
        screen.show(top.lines(&self.model, size: screen.size))
    }

    // MARK: Rooms

    /// Asks the fan-outs now and then while rooms are shown.
    /// - Returns: true when it has asked: the answer before may not be drawn yet.
    private func askForRooms() -> Bool {
        guard self.model.view == .rooms, self.roomsDueAt <= .now else { return false }
        self.roomsDueAt = .now + Self.roomPause
        self.roomQuestion?.cancel()
        let (scraper, rooms, sort) = (self.scraper, self.rooms, self.model.roomSort)
        self.roomQuestion = Task {
            let list = await scraper.rooms.rooms(by: sort)
            if !Task.isCancelled { rooms.withLockedValue { $0 = list } }
        }
        return true
    }
}
