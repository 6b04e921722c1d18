import Stages

/// What an app sends to its gateway.
enum AppNews {
    /// It has opened a socket, and waits for the transport's greeting.
    case opened
    case connected(user: String)
    /// It asks for a room's stream, behind the event of that id.
    case subscribed(user: String, room: String, place: String?)
    case event([UInt8], ackID: UInt64?)
    /// It has received all of a snapshot.
    case snapshotRead(room: String)
    case gone
}

/// What a gateway sends to an app.
enum AppMessage {
    /// The transport is open.
    case opened
    /// The app is connected.
    case accepted
    /// The transport asks whether the app lives.
    case ping
    case acknowledged(UInt64)
    case event
}

/// An app's connection to one gateway: in order both ways until it breaks.
final class AppConnection {
    let app: any SimulatedApp
    let gateway: Process
    let life: Int
    /// What the gateway knows it by.
    var slot: Int?
    /// Whether each end believes in it.
    var isOpen = true
    var isOpenAtGateway = true
    /// When the newest message of each way arrives.
    var arrivalAtGateway: UInt64 = 0
    var arrivalAtApp: UInt64 = 0
    /// Until when nothing arrives that is sent from now on.
    var stalledUntil: UInt64 = 0

    init(of app: any SimulatedApp, to gateway: Process) {
        self.app = app
        self.gateway = gateway
        self.life = gateway.life
    }
}

// The network between apps and gateways.
extension World {
    /// A socket of an app to any gateway that lives; nil when none does. The gateway knows of it once it is told.
    func socket(of app: any SimulatedApp) -> AppConnection? {
        let gateways = self.processes.filter { $0.stage == .gateway && $0.isAlive }
        guard !gateways.isEmpty else { return nil }
        let connection = AppConnection(of: app, to: gateways[self.random.place(gateways.count)])
        self.note("\(app.name) connects to \(connection.gateway.name)")
        return connection
    }

    /// Sends to the gateway.
    func tell(_ connection: AppConnection, _ news: AppNews) {
        self.passes()
        let at = max(
            self.now + self.random.number(100...3000) * 1000, connection.arrivalAtGateway + 1,
            connection.stalledUntil)
        connection.arrivalAtGateway = at
        self.at(at) { [unowned self] in
            guard connection.isOpenAtGateway, connection.gateway.life == connection.life else { return }
            self.deliver(.app(connection, news), to: connection.gateway)
        }
    }

    /// Sends to the app.
    func tell(_ connection: AppConnection, _ message: AppMessage, _ text: AppText) {
        if case .ping = message {} else { self.passes() }
        let at = max(
            self.now + self.random.number(100...3000) * 1000, connection.arrivalAtApp + 1,
            connection.stalledUntil)
        connection.arrivalAtApp = at
        self.at(at) {
            guard connection.isOpen else { return }
            connection.app.received(message, text)
        }
    }

    /// The transport of a gateway asks now and then whether the app lives, as long as it works.
    func ping(_ connection: AppConnection) {
        self.after(ClientPackets.pingInterval * .millisecond) { [unowned self] in
            guard connection.isOpen, connection.isOpenAtGateway, connection.gateway.life == connection.life else {
                return
            }
            if connection.gateway.isRunning { self.tell(connection, .ping, AppText([])) }
            self.ping(connection)
        }
    }

    /// The connection breaks: what is under way is lost, and each end notices in its own time.
    func sever(_ connection: AppConnection) {
        self.after(self.random.number(0...300) * .millisecond) {
            guard connection.isOpen else { return }
            connection.isOpen = false
            connection.app.cutOff()
        }
        self.after(self.random.number(0...1500) * .millisecond) { [unowned self] in
            guard connection.isOpenAtGateway, connection.gateway.life == connection.life else { return }
            connection.isOpenAtGateway = false
            self.deliver(.app(connection, .gone), to: connection.gateway)
        }
    }
}
